// SPDX-License-Identifier: MIT
//
// The target `dotnet-router`: the router of the finding, in its shape. Clients speak HTTP/1.1 to Kestrel. Behind it
// stands an extension that has opened one connection to the control port and keeps streams open on it; each carries one
// request out and its answer back (the frames are those of workloads/frames.h). The items of a request are the published
// ones, made of what the original was made of:
//
//   A2  the connection loop of Kestrel; takes an idle stream, or lets the request wait
//   A3  the frame writer: a loop behind a channel, whose continuation goes to the global queue
//   A4  Kestrel's own send queue
//   B1, B2  Kestrel's receive loop; a copy into a second pipe, as Kestrel's HTTP/2 has one
//   B3  the frame parser behind that pipe
//   B4  the relay: the reader of the stream's own pipe, where the reply is
//   B6  a new stream: serves the oldest waiting request, or waits for one
//   B7  a probe for waiting requests after each answer, by Task.Run: the one item in a local queue
//
// The limits of the pool: ../dotnet-shared/Startup.cs.
using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net;
using System.Text;
using System.Threading.Channels;
using Microsoft.AspNetCore.Connections;

if (Startup.Begin(args, out int[] ports, "--port", "--control") is int status)
    return status;

var dispatcher = new Dispatcher();
var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
{
    kestrel.AddServerHeader = false;
    kestrel.Listen(IPAddress.Loopback, ports[0]);
    kestrel.Listen(IPAddress.Loopback, ports[1],
        listen => listen.Run(connection => new Control(dispatcher, connection).Serve()));
});
var application = builder.Build();
application.Run(dispatcher.Serve);
application.Run();
return 0;

/// <summary>A client's request on its way: over once its stream has the whole reply.</summary>
sealed class Request(string target)
{
    public readonly byte[] Head = Encoding.ASCII.GetBytes($"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");

    // Set by whoever pairs the request with a stream; the continuation runs at once on that thread (A2 or B6).
    public readonly TaskCompletionSource<Stream> Paired = new();
}

/// <summary>Brings requests and idle streams together. Any thread.</summary>
sealed class Dispatcher
{
    private readonly ConcurrentQueue<Stream> _idle = new();
    private readonly ConcurrentQueue<Request> _waiting = new();

    /// <summary>One request of a client: A2 up to the first wait, then B4.</summary>
    public async Task Serve(HttpContext context)
    {
        var request = new Request(context.Request.Path.Value ?? "/");
        if (_idle.TryDequeue(out var stream))
        {
            stream.Start(request, false);
        }
        else
        {
            _waiting.Enqueue(request);
            Match();
            stream = await request.Paired.Task;
        }
        var reply = await stream.ReadReply();
        context.Response.StatusCode = reply.Status;
        context.Response.ContentType = "text/plain";
        context.Response.ContentLength = reply.Body.Length;
        context.Response.OnCompleted(() =>
        {
            _ = Task.Run(Match); // B7
            return Task.CompletedTask;
        });
        await context.Response.Body.WriteAsync(reply.Body);
    }

    /// <summary>A stream that has just been opened: B6.</summary>
    public void Opened(Stream stream)
    {
        if (_waiting.TryDequeue(out var request))
        {
            stream.Start(request, true);
            request.Paired.SetResult(stream);
            return;
        }
        stream.Accept();
        _idle.Enqueue(stream);
        Match();
    }

    // Whoever has put one in looks for the other behind a fence: of two that meet, one at least sees both.
    private void Match()
    {
        for (;;)
        {
            Interlocked.MemoryBarrier();
            if (_waiting.IsEmpty || !_idle.TryDequeue(out var stream))
                return;
            if (_waiting.TryDequeue(out var request))
            {
                stream.Start(request, false);
                request.Paired.SetResult(stream);
            }
            else
            {
                _idle.Enqueue(stream);
            }
        }
    }
}

/// <summary>The control connection: B2 and B3 on the way in, A3 on the way out.</summary>
sealed class Control(Dispatcher dispatcher, ConnectionContext connection)
{
    public const int HeaderSize = 8;
    public const byte Hello = 1, Open = 2, Accepted = 3, RequestFrame = 4, Response = 5, End = 1;

    public readonly record struct Frame(ushort Channel, byte Type, byte[] Payload);

    private readonly Dictionary<ushort, Stream> _streams = new();
    private readonly Pipe _frames = new(new PipeOptions(useSynchronizationContext: false));
    private readonly Channel<Frame> _output = Channel.CreateBounded<Frame>(
        new BoundedChannelOptions(8192) { SingleReader = true, AllowSynchronousContinuations = false });

    public void Send(ushort channel, byte type, byte[] payload)
    {
        if (!_output.Writer.TryWrite(new Frame(channel, type, payload)))
            connection.Abort();
    }

    public Task Serve() => Task.WhenAny(Copy(), Parse(), Write());

    private async Task Copy()
    {
        for (;;)
        {
            var read = await connection.Transport.Input.ReadAsync();
            foreach (var part in read.Buffer)
                _frames.Writer.Write(part.Span);
            connection.Transport.Input.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted || (await _frames.Writer.FlushAsync()).IsCompleted)
                return;
        }
    }

    private async Task Parse()
    {
        for (;;)
        {
            var read = await _frames.Reader.ReadAsync();
            var rest = read.Buffer;
            while (TakeFrame(ref rest))
                continue;
            _frames.Reader.AdvanceTo(rest.Start, rest.End);
        }
    }

    private bool TakeFrame(ref ReadOnlySequence<byte> rest)
    {
        Span<byte> header = stackalloc byte[HeaderSize];
        if (rest.Length < HeaderSize)
            return false;
        rest.Slice(0, HeaderSize).CopyTo(header);
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(header);
        ushort channel = BinaryPrimitives.ReadUInt16LittleEndian(header[4..]);
        if (rest.Length < HeaderSize + length)
            return false;
        var payload = rest.Slice(HeaderSize, length);
        if (header[6] == Open)
            OpenStream(channel);
        else if (header[6] == Response)
            _streams[channel].TakeReply(payload, header[7] == End);
        else if (header[6] != Hello)
            throw new InvalidDataException($"a frame of type {header[6]}");
        rest = rest.Slice(HeaderSize + length);
        return true;
    }

    private void OpenStream(ushort channel)
    {
        var stream = new Stream(dispatcher, this, channel);
        _streams[channel] = stream;
        ThreadPool.UnsafeQueueUserWorkItem(stream, preferLocal: false);
    }

    private async Task Write()
    {
        var pipe = connection.Transport.Output;
        while (await _output.Reader.WaitToReadAsync())
        {
            while (_output.Reader.TryRead(out var frame))
            {
                var header = pipe.GetSpan(HeaderSize);
                BinaryPrimitives.WriteUInt32LittleEndian(header, (uint)frame.Payload.Length);
                BinaryPrimitives.WriteUInt16LittleEndian(header[4..], frame.Channel);
                header[6] = frame.Type;
                header[7] = 0;
                pipe.Advance(HeaderSize);
                pipe.Write(frame.Payload);
            }
            await pipe.FlushAsync();
        }
    }
}

/// <summary>One stream: a request out, its reply back, then it is over and the channel is opened anew.</summary>
sealed class Stream(Dispatcher dispatcher, Control control, ushort channel) : IThreadPoolWorkItem
{
    private readonly Pipe _reply = new(new PipeOptions(useSynchronizationContext: false));

    public void Execute() => dispatcher.Opened(this);

    public void Accept() => control.Send(channel, Control.Accepted, []);

    public void Start(Request request, bool accepts)
    {
        if (accepts)
            Accept();
        control.Send(channel, Control.RequestFrame, request.Head);
    }

    /// <summary>Bytes of the reply, from the frame parser; their reader is an item of its own.</summary>
    public void TakeReply(in ReadOnlySequence<byte> bytes, bool isLast)
    {
        foreach (var part in bytes)
            _reply.Writer.Write(part.Span);
        if (isLast)
            _reply.Writer.Complete();
        else
            _ = _reply.Writer.FlushAsync();
    }

    /// <summary>The whole reply: status and body.</summary>
    public async Task<(int Status, byte[] Body)> ReadReply()
    {
        for (;;)
        {
            var read = await _reply.Reader.ReadAsync();
            if (!read.IsCompleted)
            {
                _reply.Reader.AdvanceTo(read.Buffer.Start, read.Buffer.End);
                continue;
            }
            string text = Encoding.ASCII.GetString(read.Buffer);
            _reply.Reader.Complete();
            int end = text.IndexOf("\r\n\r\n", StringComparison.Ordinal);
            return end < 12 ? (502, []) : (int.Parse(text.AsSpan(9, 3)), Encoding.ASCII.GetBytes(text[(end + 4)..]));
        }
    }
}
