// SPDX-License-Identifier: MIT
//
// The target `dotnet`: a plain HTTP server on Kestrel, the framework's own web server, and so on the runtime's thread
// pool. Every GET is answered 200 with its path, as the workload echo does.
//
// The limits of the pool are set by calls, in the order in which the published rows were: the minimum first, so that it
// does not forbid the maximum. The spin limit and the number of processors are variables of the environment and are
// read by the runtime itself.
using System.Net;
using System.Runtime.InteropServices;
using System.Text;

if (args is ["--version"])
{
    Console.WriteLine(RuntimeInformation.FrameworkDescription);
    return 0;
}

int port = 0, minWorkers = 0, maxWorkers = 0;
for (int i = 0; i + 1 < args.Length; i += 2)
{
    int value = int.Parse(args[i + 1]);
    switch (args[i])
    {
        case "--port": port = value; break;
        case "--min-workers": minWorkers = value; break;
        case "--max-workers": maxWorkers = value; break;
        default: Console.Error.WriteLine($"unknown option {args[i]}"); return 2;
    }
}
if (!SetLimits(minWorkers, maxWorkers))
{
    Console.Error.WriteLine($"the thread pool refuses min-workers {minWorkers} with max-workers {maxWorkers}");
    return 2;
}
if (args is [.., "--limits"]) // instead of serving, for who wants to see what the settings came to
{
    ThreadPool.GetMinThreads(out int least, out _);
    ThreadPool.GetMaxThreads(out int most, out _);
    Console.WriteLine($"{Environment.ProcessorCount} processors, {least} to {most} workers");
    return 0;
}

var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
{
    kestrel.AddServerHeader = false;
    kestrel.Listen(IPAddress.Loopback, port);
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

// 0 is the runtime's own default. A maximum below the default minimum takes the minimum along.
static bool SetLimits(int minWorkers, int maxWorkers)
{
    ThreadPool.GetMinThreads(out int minNow, out _);
    if (minWorkers == 0 && maxWorkers > 0 && maxWorkers < minNow)
        minWorkers = maxWorkers;
    return (minWorkers == 0 || ThreadPool.SetMinThreads(minWorkers, 1)) &&
           (maxWorkers == 0 || ThreadPool.SetMaxThreads(maxWorkers, Math.Max(maxWorkers, 1)));
}
