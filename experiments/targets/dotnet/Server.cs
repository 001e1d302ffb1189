// SPDX-License-Identifier: MIT
//
// The target `dotnet`: a plain HTTP server on Kestrel, the framework's own web server, and so on the runtime's thread
// pool. Every GET is answered 200 with its path, as the workload echo does.
// The limits of the pool: ../dotnet-shared/Startup.cs.
using System.Net;
using System.Text;

if (Startup.Begin(args, out int[] ports, "--port") is int status)
    return status;

var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
{
    kestrel.AddServerHeader = false;
    kestrel.Listen(IPAddress.Loopback, ports[0]);
});
var application = builder.Build();
application.Run(context =>
{
    byte[] answer = Encoding.ASCII.GetBytes(context.Request.Path.Value ?? "/");
    context.Response.ContentType = "text/plain";
    context.Response.ContentLength = answer.Length;
    return context.Response.Body.WriteAsync(answer, 0, answer.Length);
});
application.Run();
return 0;
