// SPDX-License-Identifier: MIT
//
// What the .NET targets have in common: options of the command line, and the limits of the thread pool.
//
// The limits are set by calls, in the order in which the published rows were: the minimum first, so that it does not
// forbid the maximum. The spin limit and the number of processors are variables of the environment and are read by the
// runtime itself.
using System.Globalization;
using System.Runtime.InteropServices;

/// <summary>The beginning of a target's program. Main thread, before anything else.</summary>
static class Startup
{
    private const string SpinLimit = "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit";

    /// <summary>Reads the options (those of ports, and the limits) and sets the limits. A number is the program's exit
    /// status: it was asked for something else than serving, or refuses.</summary>
    public static int? Begin(string[] args, out int[] ports, params string[] portOptions)
    {
        ports = new int[portOptions.Length];
        if (args is ["--version"])
        {
            Console.WriteLine(RuntimeInformation.FrameworkDescription);
            return 0;
        }
        if (!IsSpinLimitTaken(out string? spinLimit))
            return Refuse($"the runtime would ignore {SpinLimit}={spinLimit}: it takes 0 to 7fff, in hexadecimal");
        int? minWorkers = null, maxWorkers = null;
        for (int i = 0; i + 1 < args.Length; i += 2)
        {
            int value = int.Parse(args[i + 1]), port = Array.IndexOf(portOptions, args[i]);
            if (port >= 0)
                ports[port] = value;
            else if (args[i] == "--min-workers")
                minWorkers = value;
            else if (args[i] == "--max-workers")
                maxWorkers = value;
            else
                return Refuse($"unknown option {args[i]}");
        }
        if (!SetLimits(minWorkers, maxWorkers))
            return Refuse("the thread pool refuses " +
                          $"min-workers {Name(minWorkers)} with max-workers {Name(maxWorkers)}");
        if (args is not [.., "--limits"])
            return null;
        // Instead of serving, for who wants to see what the settings came to.
        ThreadPool.GetMinThreads(out int least, out _);
        ThreadPool.GetMaxThreads(out int most, out _);
        Console.WriteLine($"{Environment.ProcessorCount} processors, {least} to {most} workers");
        return 0;
    }

    private static int Refuse(string why)
    {
        Console.Error.WriteLine(why);
        return 2;
    }

    private static string Name(int? number) => number?.ToString() ?? "default";

    // The runtime reads 16 bits, and uses its default, without a word, where they are no number or a negative one.
    private static bool IsSpinLimitTaken(out string? text)
    {
        text = Environment.GetEnvironmentVariable(SpinLimit);
        return text is null ||
               (short.TryParse(text, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out short limit) &&
                limit >= 0);
    }

    // What is not given is the runtime's own default: no call. 0 is given; the runtime makes a minimum of 1 of it. A
    // maximum below the default minimum takes the minimum along.
    private static bool SetLimits(int? minWorkers, int? maxWorkers)
    {
        ThreadPool.GetMinThreads(out int minNow, out _);
        if (minWorkers is null && maxWorkers < minNow)
            minWorkers = maxWorkers;
        return (minWorkers is not int least || ThreadPool.SetMinThreads(least, 1)) &&
               (maxWorkers is not int most || ThreadPool.SetMaxThreads(most, most));
    }
}
