# SPDX-License-Identifier: MIT
#
# Golden vectors for hill climbing: what the climber of the published pool answers to some input series.
#
# Written from the description of the method alone (dotnet/runtime 8.0, PortableThreadPool.HillClimbing), without a look
# at pool/sizing/climb.c and in another shape: the whole history is kept, complex numbers are pairs, all is one pass.
# The series are closed loops: the throughput follows the goal in force, by a law of each series, with seeded noise.
#
# Output, one line per series, then one per update:
#   series NAME
#   GOAL MINIMUM MAXIMUM CPU SECONDS COMPLETIONS -> GOAL CONTROL FACTOR
# FACTOR: the next interval as a multiple of the present one; 0: ten milliseconds.

function noise() { # -1 to 1; Park and Miller's generator, exact in doubles
    seed = (16807 * seed) % 2147483647
    return 2 * seed / 2147483647 - 1
}
function least(a, b) { return a < b ? a : b }
function most(a, b) { return a > b ? a : b }

# Sets re and im to the part of history h (1: throughput, 2: workers) that has this period, over the n newest.
function goertzel(h, n, period,    k, a, b, next_a) {
    a = b = 0
    for (k = total - n + 1; k <= total; k++) {
        next_a = 2 * cos(2 * pi / period) * a - b + history[h, k]
        b = a
        a = next_a
    }
    re = (a - b * cos(2 * pi / period)) / n
    im = b * sin(2 * pi / period) / n
}
function size(period, n, average) {
    goertzel(1, n, period)
    return sqrt(re * re + im * im) / average
}

# One update; returns the new goal, and sets factor.
function update(g, minimum, maximum, cpu, s, c,
                k, n, mt, mw, tr, ti, wr, wi, w, around, confidence, loudest, move, wave, next_goal) {
    if (g != remembered) {
        control += g - remembered
        remembered = g
    }
    s += carried_s
    c += carried_c
    if (total > 0 && (c == 0 ? g > 1 : (g - 1) / c >= 0.15)) {
        carried_s = s
        carried_c = c
        factor = 0
        return g
    }
    carried_s = carried_c = 0
    total++
    history[1, total] = c / s
    history[2, total] = g
    n = int(least(total - 1, 32) / 4) * 4
    ratio = confidence = 0
    mt = mw = 0
    for (k = total - n + 1; k <= total; k++) {
        mt += history[1, k] / n
        mw += history[2, k] / n
    }
    if (n > 4 && mt > 0 && mw > 0) {
        goertzel(1, n, 4); tr = re / mt; ti = im / mt
        goertzel(2, n, 4); wr = re / mw; wi = im / mw
        w = sqrt(wr * wr + wi * wi)
        around = size(n / (n / 4 + 1), n, mt)
        if (n / (n / 4 - 1) <= n)
            around = most(around, size(n / (n / 4 - 1), n, mt))
        smoothed = smoothed == 0 ? around : 0.01 * around + 0.99 * smoothed
        loudest = most(smoothed, around)
        if (w > 0) # the real part of (T - 0.15 W) / W
            ratio = (tr * wr + ti * wi) / (w * w) - 0.15
        confidence = loudest > 0 ? w / loudest / 3 : 1
    }
    move = most(-1, least(1, ratio)) * most(0, least(1, confidence))
    move = (move < 0 ? -1 : 1) * move * move * 4 * s
    if (move > 20)
        move = 20
    if (move > 0 && cpu > 95)
        move = 0
    control += move
    wave = most(1, least(20, int(0.5 + control * smoothed * 6)))
    control = most(minimum, least(maximum - wave, control))
    next_goal = int(control + (int(total / 2) % 2 ? wave : 0))
    next_goal = most(minimum, least(maximum, next_goal))
    remembered = next_goal
    factor = ratio < 0 && next_goal == minimum ? 10 * least(-ratio, 1) : 1
    return next_goal
}

# Tasks per second at goal g in step i of a series: how the load answers.
function rate(law, g, i) {
    if (law == "flat") return 20000
    if (law == "linear") return 3000 * g
    if (law == "saturating") return 3000 * least(g, 8)
    if (law == "step") return 3000 * least(g, i < 100 ? 4 : 16)
    if (law == "ramp") return 2000 * least(g, 2 + i / 10)
    if (law == "slow") return 150 * g
    if (law == "pauses") return i % 40 < 30 ? 5000 * least(g, 6) : 0
    if (law == "harmful") return 30000 / (1 + 0.2 * g)
}

function series(name, law, spread, goal, minimum, maximum, cpu,    i, s, c, answer) {
    print "series " name
    split("", history)
    total = carried_s = carried_c = control = smoothed = remembered = 0
    seed = 20161109 + length(name)
    for (i = 1; i <= 300; i++) {
        if (name == "forced" && i % 50 == 0)
            goal = most(minimum, least(maximum, goal + (i % 100 ? 5 : -3))) # a caller or the gate has changed it
        if (name == "limits-move" && i == 150) {
            minimum = 6
            maximum = 9
            goal = most(minimum, least(maximum, goal))
        }
        s = (0.105 + 0.095 * noise()) * (name == "long-samples" ? 50 : 1)
        c = int(most(0, rate(law, goal, i) * s * (1 + spread * noise())))
        answer = update(goal, minimum, maximum, cpu, s, c)
        printf "%d %d %d %d %.17g %d -> %d %.17g %.17g\n", goal, minimum, maximum, cpu, s, c, answer, control, factor
        goal = answer
    }
}

BEGIN {
    pi = atan2(0, -1)
    series("flat-noisy", "flat", 0.05, 4, 4, 32767, 40)
    series("linear", "linear", 0.02, 2, 2, 64, 40)
    series("linear-exact", "linear", 0, 2, 2, 64, 40)
    series("saturating", "saturating", 0.03, 2, 2, 100, 60)
    series("saturating-from-above", "saturating", 0.03, 40, 1, 100, 60)
    series("noise-only", "flat", 0.6, 12, 12, 32767, 50)
    series("noise-large", "flat", 0.6, 40, 40, 200, 50)
    series("long-samples", "linear", 0.02, 2, 2, 2000, 50)
    series("step", "step", 0.02, 4, 2, 50, 50)
    series("ramp", "ramp", 0.02, 2, 2, 50, 50)
    series("few-completions", "slow", 0.3, 6, 2, 40, 10)
    series("pauses", "pauses", 0.05, 6, 1, 40, 30)
    series("cpu-high", "linear", 0.02, 4, 2, 64, 96)
    series("cpu-at-limit", "linear", 0.02, 4, 2, 64, 95)
    series("one-only", "linear", 0.05, 1, 1, 1, 30)
    series("narrow", "linear", 0.05, 2, 2, 3, 30)
    series("harmful", "harmful", 0.01, 8, 2, 64, 70)
    series("forced", "saturating", 0.05, 4, 2, 40, 50)
    series("limits-move", "linear", 0.05, 4, 2, 40, 50)
}
