// SPDX-License-Identifier: MIT
//
// What the .NET targets have in common: options of the command line, and the limits of the thread pool.
//
// The limits are set by calls, in the order in which the published rows were: the minimum first, so that it does not
// forbid the maximum. The spin limit and the number of processors are variables of the environment and are read by the
// runtime itself.
using System.Runtime.InteropServices;

/// <summary>The beginning of a target's program. Main thread, before anything else.</summary>
static class Startup
{
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
        int minWorkers = 0, maxWorkers = 0;
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
            return Refuse($"the thread pool refuses min-workers {minWorkers} with max-workers {maxWorkers}");
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

    // 0 is the runtime's own default. A maximum below the default minimum takes the minimum along.
    private static bool SetLimits(int minWorkers, int maxWorkers)
    {
        ThreadPool.GetMinThreads(out int minNow, out _);
        if (minWorkers == 0 && maxWorkers > 0 && maxWorkers < minNow)
            minWorkers = maxWorkers;
        return (minWorkers == 0 || ThreadPool.SetMinThreads(minWorkers, 1)) &&
               (maxWorkers == 0 || ThreadPool.SetMaxThreads(maxWorkers, maxWorkers));
    }
}
