/* SPDX-License-Identifier: MIT
 *
 * The programs of litmus.h and what each may show.
 *
 * Sources of the sets. sc: interleavings. tso: Sewell, Sarkar, Owens, Zappa Nardelli, Myreen 2010 ("x86-TSO") and the
 * examples there from Intel's and AMD's manuals (iwp..., amd..., n...). ra: RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer
 * 2017), which GenMC and herd implement; where the engine differs, the source says so, and pool/explored/README.md why.
 * Names: Alglave, Maranget, Tautschnig 2014 ("Herding cats").
 */
#include "litmus.h"

#define THREAD(NAME, ...)                 \
    static void NAME(struct world *world) \
    {                                     \
        __VA_ARGS__;                      \
    }
#define STORE(ORDER, WORD, VALUE)             shared_u32_store_##ORDER(&world->WORD, VALUE)
#define LOAD(ORDER, WORD, REGISTER)           (world->r[REGISTER] = shared_u32_load_##ORDER(&world->WORD))
#define ADD(ORDER, WORD, VALUE)               shared_u32_add_##ORDER(&world->WORD, VALUE)
#define EXCHANGE(ORDER, WORD, VALUE, REGISTER) (world->r[REGISTER] = shared_u32_exchange_##ORDER(&world->WORD, VALUE))
#define FULL                                  ordered_fence_seq_cst()
#define LIGHT                                 ordered_fence_light()
#define HEAVY                                 ordered_fence_heavy()
#define NONE                                  (void)0

/* ---- store buffering: each thread writes its own word and reads the other's ---- */

#define SB(NAME, STORE_ORDER, BETWEEN0, BETWEEN1, LOAD_ORDER)                              \
    THREAD(NAME##_0, STORE(STORE_ORDER, x, 1); BETWEEN0; LOAD(LOAD_ORDER, y, 0))           \
    THREAD(NAME##_1, STORE(STORE_ORDER, y, 1); BETWEEN1; LOAD(LOAD_ORDER, x, 1))
SB(sb_relaxed, relaxed, NONE, NONE, relaxed)
SB(sb_release, release, NONE, NONE, acquire)
SB(sb_fences, relaxed, FULL, FULL, relaxed)
SB(sb_one_fence, relaxed, FULL, NONE, relaxed)
SB(sb_seq_cst, seq_cst, NONE, NONE, seq_cst)
SB(sb_seq_cst_stores, seq_cst, NONE, NONE, relaxed)
SB(sb_seq_cst_loads, relaxed, NONE, NONE, seq_cst)
SB(sb_heavy, relaxed, HEAVY, LIGHT, relaxed)
SB(sb_light, relaxed, LIGHT, LIGHT, relaxed)
THREAD(sb_rmw_0, ADD(seq_cst, x, 1); LOAD(relaxed, y, 0))
THREAD(sb_rmw_1, ADD(seq_cst, y, 1); LOAD(relaxed, x, 1))
THREAD(sb_rmw_load_0, ADD(seq_cst, x, 1); LOAD(seq_cst, y, 0))
THREAD(sb_rmw_load_1, ADD(seq_cst, y, 1); LOAD(seq_cst, x, 1))
/* Three threads, each reads the next one's. */
THREAD(podwr001_0, STORE(relaxed, x, 1); LOAD(relaxed, y, 0))
THREAD(podwr001_1, STORE(relaxed, y, 1); LOAD(relaxed, z, 1))
THREAD(podwr001_2, STORE(relaxed, z, 1); LOAD(relaxed, x, 2))
/* amd3: own stores twice, before the load. */
THREAD(amd3_0, STORE(relaxed, x, 1); STORE(relaxed, x, 2); LOAD(relaxed, y, 0))
THREAD(amd3_1, STORE(relaxed, y, 1); STORE(relaxed, y, 2); LOAD(relaxed, x, 1))
/* The rare side of an asymmetric pair with two frequent ones. */
THREAD(heavy_three_0, STORE(relaxed, x, 1); HEAVY; LOAD(relaxed, y, 0); LOAD(relaxed, z, 1))
THREAD(heavy_three_1, STORE(relaxed, y, 1); LIGHT; LOAD(relaxed, x, 2))
THREAD(heavy_three_2, STORE(relaxed, z, 1); LIGHT; LOAD(relaxed, x, 3))
/* The frequent sides meet the heavy fence at different moments. */
THREAD(heavy_apart_0, STORE(relaxed, w, 1); HEAVY; LOAD(relaxed, z, 0))
THREAD(heavy_apart_1, STORE(relaxed, z, 1); LIGHT; LOAD(relaxed, w, 1); STORE(relaxed, x, 1))
THREAD(heavy_apart_2, LOAD(relaxed, x, 2); LIGHT; LOAD(relaxed, w, 3))

/* ---- message passing: data, then a flag ---- */

#define MP(NAME, BETWEEN0, STORE_ORDER, LOAD_ORDER, BETWEEN1)                               \
    THREAD(NAME##_0, STORE(relaxed, x, 1); BETWEEN0; STORE(STORE_ORDER, y, 1))              \
    THREAD(NAME##_1, LOAD(LOAD_ORDER, y, 0); BETWEEN1; LOAD(relaxed, x, 1))
MP(mp_relaxed, NONE, relaxed, relaxed, NONE)
MP(mp_release_only, NONE, release, relaxed, NONE)
MP(mp_acquire_only, NONE, relaxed, acquire, NONE)
MP(mp, NONE, release, acquire, NONE)
MP(mp_fences, FULL, relaxed, relaxed, FULL)
MP(mp_fence_store, FULL, relaxed, acquire, NONE)
MP(mp_fence_store_only, FULL, relaxed, relaxed, NONE)
MP(mp_fence_load, NONE, release, relaxed, FULL)
MP(mp_fence_load_only, NONE, relaxed, relaxed, FULL)
/* iwp2.8.b, amd5: the data by a read-modify-write. */
THREAD(mp_rmw_0, ADD(seq_cst, x, 1); STORE(relaxed, y, 1))
/* Arm may show a seq_cst store after a later relaxed one. */
THREAD(mp_seq_cst_0, STORE(seq_cst, x, 1); STORE(relaxed, y, 1))
THREAD(mp_seq_cst_1, LOAD(acquire, y, 0); LOAD(seq_cst, x, 1))

/* ---- load buffering: a store is never visible before its thread reaches it ---- */

THREAD(lb_0, LOAD(relaxed, x, 0); STORE(relaxed, y, 1))
THREAD(lb_1, LOAD(relaxed, y, 1); STORE(relaxed, x, 1))
THREAD(n4_0, LOAD(relaxed, x, 0); STORE(relaxed, x, 1))
THREAD(n4_1, LOAD(relaxed, x, 1); STORE(relaxed, x, 2))

/* ---- two readers of independent writers: do they agree on the order? ---- */

#define READERS(NAME, FIRST, BETWEEN, SECOND)                           \
    THREAD(NAME##_2, LOAD(FIRST, x, 0); BETWEEN; LOAD(SECOND, y, 1))    \
    THREAD(NAME##_3, LOAD(FIRST, y, 2); BETWEEN; LOAD(SECOND, x, 3))
THREAD(x_relaxed, STORE(relaxed, x, 1))
THREAD(y_relaxed, STORE(relaxed, y, 1))
THREAD(x_release, STORE(release, x, 1))
THREAD(y_release, STORE(release, y, 1))
THREAD(x_seq_cst, STORE(seq_cst, x, 1))
THREAD(y_seq_cst, STORE(seq_cst, y, 1))
READERS(iriw, relaxed, NONE, relaxed)
READERS(iriw_acquire, acquire, NONE, acquire)
READERS(iriw_seq_cst, seq_cst, NONE, seq_cst)
READERS(iriw_fences, relaxed, FULL, relaxed)
READERS(iriw_mixed, acquire, NONE, seq_cst)

/* ---- coherence: one location, one order ---- */

THREAD(corr_1, LOAD(relaxed, x, 0); LOAD(relaxed, x, 1))
THREAD(x_is_2, STORE(relaxed, x, 2))
THREAD(corr2_2, LOAD(relaxed, x, 0); LOAD(relaxed, x, 1))
THREAD(corr2_3, LOAD(relaxed, x, 2); LOAD(relaxed, x, 3))
THREAD(coww_0, STORE(relaxed, x, 1); STORE(relaxed, x, 2))
THREAD(coww_final, LOAD(relaxed, x, 2))
THREAD(corw_0, LOAD(relaxed, x, 0); STORE(relaxed, x, 1))
THREAD(cowr_0, STORE(relaxed, x, 1); LOAD(relaxed, x, 0))
THREAD(final_x, LOAD(relaxed, x, 1))
THREAD(n5_1, STORE(relaxed, x, 2); LOAD(relaxed, x, 1))

/* ---- release sequence: what goes on with a release store ---- */

THREAD(sequence_0, STORE(relaxed, x, 1); STORE(release, y, 1))
THREAD(sequence_rmw_1, ADD(relaxed, y, 2))
THREAD(sequence_2, LOAD(acquire, y, 0); LOAD(relaxed, x, 1))
THREAD(sequence_store_0, STORE(relaxed, x, 1); STORE(release, y, 1); STORE(relaxed, y, 2))

/* ---- who writes last ---- */

#define WW(NAME, ORDER, BETWEEN)                                                \
    THREAD(NAME##_0, STORE(ORDER, x, 1); BETWEEN; STORE(ORDER, y, 2))           \
    THREAD(NAME##_1, STORE(ORDER, y, 1); BETWEEN; STORE(ORDER, x, 2))
WW(ww_relaxed, relaxed, NONE)
WW(ww_release, release, NONE)
WW(ww_seq_cst, seq_cst, NONE)
WW(ww_fences, relaxed, FULL)
THREAD(ww_final, LOAD(relaxed, x, 0); LOAD(relaxed, y, 1))
THREAD(ww3_0, STORE(relaxed, x, 1); STORE(relaxed, y, 2))
THREAD(ww3_1, STORE(relaxed, y, 1); STORE(relaxed, z, 2))
THREAD(ww3_2, STORE(relaxed, z, 1); STORE(relaxed, x, 2))
THREAD(ww3_final, LOAD(relaxed, x, 0); LOAD(relaxed, y, 1); LOAD(relaxed, z, 2))

#define S(NAME, STORE_ORDER, LOAD_ORDER)                                        \
    THREAD(NAME##_0, STORE(relaxed, x, 2); STORE(STORE_ORDER, y, 1))            \
    THREAD(NAME##_1, LOAD(LOAD_ORDER, y, 0); STORE(relaxed, x, 1))
S(s_relaxed, relaxed, relaxed)
S(s, release, acquire)

#define R(NAME, ORDER, BETWEEN0, BETWEEN1, LOAD_ORDER)                          \
    THREAD(NAME##_0, STORE(ORDER, x, 1); BETWEEN0; STORE(ORDER, y, 1))          \
    THREAD(NAME##_1, STORE(ORDER, y, 2); BETWEEN1; LOAD(LOAD_ORDER, x, 0))
R(r_relaxed, relaxed, NONE, NONE, relaxed)
R(r_one_fence, relaxed, NONE, FULL, relaxed)
R(r_fences, relaxed, FULL, FULL, relaxed)
R(r_seq_cst, seq_cst, NONE, NONE, seq_cst)
THREAD(final_y, LOAD(relaxed, y, 1))

/* ---- through a third thread ---- */

#define ISA2(NAME, RELEASE, ACQUIRE)                                            \
    THREAD(NAME##_0, STORE(relaxed, x, 1); STORE(RELEASE, y, 1))                \
    THREAD(NAME##_1, LOAD(ACQUIRE, y, 0); STORE(RELEASE, z, 1))                 \
    THREAD(NAME##_2, LOAD(ACQUIRE, z, 1); LOAD(relaxed, x, 2))
ISA2(isa2_relaxed, relaxed, relaxed)
ISA2(isa2, release, acquire)

#define WRC(NAME, RELEASE, ACQUIRE)                                             \
    THREAD(NAME##_1, LOAD(relaxed, x, 0); STORE(RELEASE, y, 1))                 \
    THREAD(NAME##_2, LOAD(ACQUIRE, y, 1); LOAD(relaxed, x, 2))
WRC(wrc_relaxed, relaxed, relaxed)
WRC(wrc, release, acquire)

#define RWC(NAME, BETWEEN)                                                      \
    THREAD(NAME##_1, LOAD(acquire, x, 0); BETWEEN; LOAD(relaxed, y, 1))         \
    THREAD(NAME##_2, STORE(relaxed, y, 1); FULL; LOAD(relaxed, x, 2))
RWC(rwc, FULL)
RWC(rwc_one_fence, NONE)

/* ---- a seq_cst access on one side, a full fence on the other ---- */

THREAD(mixed_0, STORE(seq_cst, x, 1); LOAD(seq_cst, y, 0))
THREAD(mixed_rmw_0, ADD(seq_cst, x, 1); LOAD(seq_cst, y, 0))
THREAD(mixed_relaxed_0, ADD(seq_cst, x, 1); LOAD(relaxed, y, 0))
THREAD(mixed_1, STORE(relaxed, y, 1); FULL; LOAD(relaxed, x, 1))
THREAD(mixed_seq_cst_1, STORE(relaxed, y, 1); FULL; LOAD(seq_cst, x, 1))

/* ---- read-modify-writes ---- */

THREAD(adds_0, world->r[0] = ADD(relaxed, x, 1))
THREAD(adds_1, world->r[1] = ADD(relaxed, x, 1))
THREAD(adds_final, LOAD(relaxed, x, 2))
THREAD(exchanges_0, EXCHANGE(acquire, x, 1, 0))
THREAD(exchanges_1, EXCHANGE(acquire, x, 2, 1))
THREAD(exchanges_final, LOAD(relaxed, x, 2))
static void take(struct world *world, uint32_t who)
{
    uint32_t expected = 0;
    world->r[who] = shared_u32_cas_relaxed(&world->x, &expected, who + 1);
}
THREAD(takes_0, take(world, 0))
THREAD(takes_1, take(world, 1))
/* A CAS that fails is a load. */
static void lose(struct world *world)
{
    uint32_t expected = 2;
    LOAD(relaxed, y, 0);
    shared_u32_cas_relaxed(&world->x, &expected, 3);
    world->r[1] = expected;
}
THREAD(cas_stale_0, STORE(relaxed, x, 1); STORE(relaxed, y, 1))
/* A store may go before a read-modify-write, not between it and what it read. */
THREAD(rmw_adjacent_0, world->r[0] = ADD(relaxed, x, 1))
THREAD(rmw_adjacent_1, STORE(relaxed, x, 4))
THREAD(rmw_adjacent_final, LOAD(relaxed, x, 1))

/* ---- x86's examples that are not among the above ---- */

THREAD(n6_0, STORE(relaxed, x, 1); LOAD(relaxed, x, 0); LOAD(relaxed, y, 1))
THREAD(n6_1, STORE(relaxed, y, 2); STORE(relaxed, x, 2))
THREAD(n6_final, LOAD(relaxed, x, 2))
THREAD(n7_0, STORE(relaxed, x, 1); LOAD(relaxed, x, 3); LOAD(relaxed, y, 0))
THREAD(n7_2, LOAD(relaxed, y, 1); LOAD(relaxed, x, 2))
THREAD(iwp24_0, STORE(relaxed, x, 1); LOAD(relaxed, x, 0); LOAD(relaxed, y, 1))
THREAD(iwp24_1, STORE(relaxed, y, 1); LOAD(relaxed, y, 2); LOAD(relaxed, x, 3))

/* ---- parking ---- */

THREAD(wake_0, STORE(relaxed, w, 1); platform_wake(&world->w, 1))
THREAD(wake_early_0, platform_wake(&world->w, 1); STORE(relaxed, w, 1))
THREAD(wake_never_0, STORE(relaxed, w, 1))
THREAD(park_1, platform_park(&world->w, 0, PLATFORM_FOREVER); world->r[0] = 1)
/* The word is written, and somebody is told otherwise than by a wake. */
THREAD(told_0, STORE(relaxed, w, 1); STORE(relaxed, y, 1))
THREAD(told_release_0, STORE(relaxed, w, 1); STORE(release, y, 1))
static void park_if_told(struct world *world)
{
    if (LOAD(acquire, y, 0) != 0)
        platform_park(&world->w, 0, PLATFORM_FOREVER);
}
/* The word itself is what is looked at last: full orders on both sides make a wake unnecessary. */
static void write_and_look(struct world *world)
{
    ADD(seq_cst, w, 1);
    if (shared_u32_load_seq_cst(&world->z) != 0)
        platform_wake(&world->w, 1);
}
THREAD(count_and_park, ADD(seq_cst, z, 1); platform_park(&world->w, 0, PLATFORM_FOREVER))
/* Announce, look again, sleep, against write, look for sleepers, wake. */
static void announce_and_park(struct world *world, bool fences)
{
    STORE(relaxed, z, 1);
    if (fences)
        FULL;
    if (shared_u32_load_relaxed(&world->x) == 0)
        platform_park(&world->w, 0, PLATFORM_FOREVER);
}
static void write_and_wake(struct world *world, bool fences)
{
    STORE(relaxed, x, 1);
    if (fences)
        FULL;
    if (shared_u32_load_relaxed(&world->z) != 0) {
        STORE(relaxed, w, 1);
        platform_wake(&world->w, 1);
    }
}
THREAD(sleep_0, write_and_wake(world, true))
THREAD(sleep_1, announce_and_park(world, true))
THREAD(sleep_bare_0, write_and_wake(world, false))
THREAD(sleep_bare_1, announce_and_park(world, false))

#define NOT_BOTH   "* -00"
#define ORDERED    "* -10"
#define IRIW_WEAK  "*"
#define IRIW_AGREE "* -1010"
#define RC11       "RC11"
#define TSO        "x86-TSO"
#define ALL        "any model"

/* {name, registers, threads, final, sc, tso, ra, source} */
const struct litmus litmus_programs[] = {
    {"SB", 2, {sb_relaxed_0, sb_relaxed_1}, NULL, NOT_BOTH, "*", "*", TSO ": iwp2.3.a, amd4"},
    {"SB+rel-acq", 2, {sb_release_0, sb_release_1}, NULL, NOT_BOTH, "*", "*", RC11},
    {"SB+fences", 2, {sb_fences_0, sb_fences_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, TSO ": amd5; " RC11},
    {"SB+fence+none", 2, {sb_one_fence_0, sb_one_fence_1}, NULL, NOT_BOTH, "*", "*", RC11},
    {"SB+sc", 2, {sb_seq_cst_0, sb_seq_cst_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, RC11},
    {"SB+sc-stores", 2, {sb_seq_cst_stores_0, sb_seq_cst_stores_1}, NULL, NOT_BOTH, NOT_BOTH, "*",
     RC11 "; x86 stores with xchg"},
    {"SB+sc-loads", 2, {sb_seq_cst_loads_0, sb_seq_cst_loads_1}, NULL, NOT_BOTH, "*", "*", RC11},
    {"SB+heavy+light", 2, {sb_heavy_0, sb_heavy_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, "membarrier(2)"},
    {"SB+light+light", 2, {sb_light_0, sb_light_1}, NULL, NOT_BOTH, "*", "*", "membarrier(2)"},
    {"SB+rmws", 2, {sb_rmw_0, sb_rmw_1}, NULL, NOT_BOTH, NOT_BOTH, "*",
     TSO ": iwp2.8.a; " RC11 ": the Arm case, a load passes a read-modify-write"},
    {"SB+rmws+sc-loads", 2, {sb_rmw_load_0, sb_rmw_load_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, RC11},
    {"podwr001", 3, {podwr001_0, podwr001_1, podwr001_2}, NULL, "* -000", "*", "*", TSO},
    {"amd3", 2, {amd3_0, amd3_1}, NULL, "*3 -00 -01 -10 -11", "*3", "*3", TSO},
    {"SB+heavy+light+light", 4, {heavy_three_0, heavy_three_1, heavy_three_2}, NULL, "* -0.0. -.0.0", "* -0.0. -.0.0",
     "* -0.0. -.0.0", "membarrier(2)", true},
    {"heavy-apart", 4, {heavy_apart_0, heavy_apart_1, heavy_apart_2}, NULL, "* -00.. -.110", "* -00.. -.110", "* -00..",
     "membarrier(2) in the kernel's memory model: it meets each thread at a moment of its own", true},

    {"MP", 2, {mp_relaxed_0, mp_relaxed_1}, NULL, ORDERED, ORDERED, "*", TSO ": iwp2.1, amd1; " RC11},
    {"MP+rel", 2, {mp_release_only_0, mp_release_only_1}, NULL, ORDERED, ORDERED, "*", RC11},
    {"MP+acq", 2, {mp_acquire_only_0, mp_acquire_only_1}, NULL, ORDERED, ORDERED, "*", RC11},
    {"MP+rel+acq", 2, {mp_0, mp_1}, NULL, ORDERED, ORDERED, ORDERED, RC11},
    {"MP+fences", 2, {mp_fences_0, mp_fences_1}, NULL, ORDERED, ORDERED, ORDERED, RC11},
    {"MP+fence+acq", 2, {mp_fence_store_0, mp_fence_store_1}, NULL, ORDERED, ORDERED, ORDERED, RC11},
    {"MP+fence", 2, {mp_fence_store_only_0, mp_fence_store_only_1}, NULL, ORDERED, ORDERED, "*", RC11},
    {"MP+rel+fence", 2, {mp_fence_load_0, mp_fence_load_1}, NULL, ORDERED, ORDERED, ORDERED, RC11},
    {"MP+rlx+fence", 2, {mp_fence_load_only_0, mp_fence_load_only_1}, NULL, ORDERED, ORDERED, "*", RC11},
    {"MP+rmw", 2, {mp_rmw_0, mp_relaxed_1}, NULL, ORDERED, ORDERED, "*", TSO ": iwp2.8.b; " RC11},
    {"MP+sc+rlx", 2, {mp_seq_cst_0, mp_seq_cst_1}, NULL, ORDERED, ORDERED, ORDERED,
     "differs from " RC11 ", which allows 10: a seq_cst access takes its place among the others when it runs"},

    {"LB", 2, {lb_0, lb_1}, NULL, "* -11", "* -11", "* -11", TSO ": iwp2.2, amd2; " RC11 " forbids it as well"},
    {"n4", 2, {n4_0, n4_1}, NULL, "00 01 20", "00 01 20", "00 01 20", TSO "; " RC11},

    {"IRIW", 4, {x_relaxed, y_relaxed, iriw_2, iriw_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_WEAK,
     TSO ": amd7; " RC11, true},
    {"IRIW+rel+acq", 4, {x_release, y_release, iriw_acquire_2, iriw_acquire_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_WEAK,
     RC11, true},
    {"IRIW+sc", 4, {x_seq_cst, y_seq_cst, iriw_seq_cst_2, iriw_seq_cst_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_AGREE,
     RC11},
    {"IRIW+rlx+sc", 4, {x_relaxed, y_relaxed, iriw_seq_cst_2, iriw_seq_cst_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_WEAK,
     RC11 ": seq_cst loads alone agree on nothing", true},
    {"IRIW+fences", 4, {x_relaxed, y_relaxed, iriw_fences_2, iriw_fences_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_AGREE,
     RC11, true},
    {"IRIW+acq+sc", 4, {x_seq_cst, y_seq_cst, iriw_mixed_2, iriw_mixed_3}, NULL, IRIW_AGREE, IRIW_AGREE, IRIW_AGREE,
     "differs from " RC11 ", which allows 1010 for POWER's sake; C11 as published forbids it"},

    {"CoRR", 2, {x_relaxed, corr_1}, NULL, ORDERED, ORDERED, ORDERED, ALL},
    {"CoRR2", 4, {x_relaxed, x_is_2, corr2_2, corr2_3}, NULL, "*3 -10.. -20.. -..10 -..20 -1221 -2112",
     "*3 -10.. -20.. -..10 -..20 -1221 -2112", "*3 -10.. -20.. -..10 -..20 -1221 -2112", TSO ": iwp2.6; " ALL, true},
    {"CoWW", 3, {coww_0, corr_1}, coww_final, "002 012 022 112 122 222", "002 012 022 112 122 222",
     "002 012 022 112 122 222", ALL},
    {"CoRW", 2, {corw_0, x_is_2}, final_x, "01 02 21", "01 02 21", "01 02 21", ALL},
    {"CoWR", 2, {cowr_0, x_is_2}, final_x, "11 12 22", "11 12 22", "11 12 22", ALL},
    {"n5", 2, {cowr_0, n5_1}, NULL, "11 12 22", "11 12 22", "11 12 22", TSO "; " ALL},

    {"release-sequence+rmw", 2, {sequence_0, sequence_rmw_1, sequence_2}, NULL, "00 01 11 20 21 31",
     "00 01 11 20 21 31", "00 01 11 20 21 31", RC11},
    {"release-sequence+store", 2, {sequence_store_0, sequence_2}, NULL, "00 01 11 21", "00 01 11 21", "00 01 11 20 21",
     "C++20, which took stores of the same thread out; C11 and " RC11 " forbid 20"},

    {"2+2W", 2, {ww_relaxed_0, ww_relaxed_1}, ww_final, "12 21 22", "12 21 22", "11 12 21 22", RC11},
    {"2+2W+rel", 2, {ww_release_0, ww_release_1}, ww_final, "12 21 22", "12 21 22", "11 12 21 22", RC11},
    {"2+2W+sc", 2, {ww_seq_cst_0, ww_seq_cst_1}, ww_final, "12 21 22", "12 21 22", "12 21 22", RC11},
    {"2+2W+fences", 2, {ww_fences_0, ww_fences_1}, ww_final, "12 21 22", "12 21 22", "12 21 22", RC11},
    {"3.2W", 3, {ww3_0, ww3_1, ww3_2}, ww3_final, "112 121 122 211 212 221 222", "112 121 122 211 212 221 222",
     "111 112 121 122 211 212 221 222", TSO "; " RC11},
    {"S", 2, {s_relaxed_0, s_relaxed_1}, final_x, "01 02 11", "01 02 11", "01 02 11 12", RC11},
    {"S+rel+acq", 2, {s_0, s_1}, final_x, "01 02 11", "01 02 11", "01 02 11", RC11},
    {"R", 2, {r_relaxed_0, r_relaxed_1}, final_y, "01 11 12", "01 02 11 12", "01 02 11 12", TSO "; " RC11},
    {"R+none+fence", 2, {r_one_fence_0, r_one_fence_1}, final_y, "01 11 12", "01 11 12", "01 02 11 12", TSO "; " RC11},
    {"R+fences", 2, {r_fences_0, r_fences_1}, final_y, "01 11 12", "01 11 12", "01 11 12", RC11},
    {"R+sc", 2, {r_seq_cst_0, r_seq_cst_1}, final_y, "01 11 12", "01 11 12", "01 11 12", RC11},

    {"ISA2", 3, {isa2_relaxed_0, isa2_relaxed_1, isa2_relaxed_2}, NULL, "* -110", "* -110", "*", RC11},
    {"ISA2+rel+acq", 3, {isa2_0, isa2_1, isa2_2}, NULL, "* -110", "* -110", "* -110", RC11},
    {"WRC", 3, {x_relaxed, wrc_relaxed_1, wrc_relaxed_2}, NULL, "* -110", "* -110", "*", TSO ": iwp2.5, amd8; " RC11},
    {"WRC+rel+acq", 3, {x_relaxed, wrc_1, wrc_2}, NULL, "* -110", "* -110", "* -110", RC11},
    {"RWC+fences", 3, {x_relaxed, rwc_1, rwc_2}, NULL, "* -100", "* -100", "* -100", TSO "; " RC11},
    {"RWC+fence", 3, {x_relaxed, rwc_one_fence_1, rwc_one_fence_2}, NULL, "* -100", "* -100", "*", TSO "; " RC11},

    {"SB+sc+fence", 2, {mixed_0, mixed_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, RC11},
    {"SB+rmw-sc+fence", 2, {mixed_rmw_0, mixed_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, RC11},
    {"SB+rmw-rlx+fence", 2, {mixed_relaxed_0, mixed_1}, NULL, NOT_BOTH, NOT_BOTH, "*", RC11 ": the Arm case"},
    {"SB+sc+fence-sc", 2, {mixed_0, mixed_seq_cst_1}, NULL, NOT_BOTH, NOT_BOTH, NOT_BOTH, RC11},

    {"two-adds", 3, {adds_0, adds_1}, adds_final, "012 102", "012 102", "012 102", ALL},
    {"two-exchanges", 3, {exchanges_0, exchanges_1}, exchanges_final, "012 201", "012 201", "012 201", ALL},
    {"two-takes", 2, {takes_0, takes_1}, NULL, "01 10", "01 10", "01 10", ALL},
    {"failing-cas", 2, {cas_stale_0, lose}, NULL, ORDERED, ORDERED, "*", RC11 ": a CAS that fails is a load"},
    {"rmw-adjacent", 2, {rmw_adjacent_0, rmw_adjacent_1}, rmw_adjacent_final, "04 45", "04 45", "04 45", ALL},

    {"n6", 3, {n6_0, n6_1}, n6_final, "102 121 122 222", "101 102 121 122 222", "101 102 121 122 202 222",
     TSO "; " RC11},
    {"n7", 3, {n7_0, y_relaxed, n7_2}, NULL, "* -010", "*", "*", TSO},
    {"iwp2.4", 4, {iwp24_0, iwp24_1}, NULL, "1011 1110 1111", "1010 1011 1110 1111", "1010 1011 1110 1111",
     TSO ": iwp2.4, amd9"},

    {"wake", 1, {wake_0, park_1}, NULL, "1", "1", "1", "platform.h: the comparison and the blocking are one step"},
    {"wake-early", 1, {wake_early_0, park_1}, NULL, "1 S3", "1 S3", "1 S3", "platform.h: a wake is not remembered"},
    {"wake-never", 1, {wake_never_0, park_1}, NULL, "1 S3", "1 S3", "1 S3", "platform.h"},
    {"told", 1, {told_0, park_if_told}, NULL, "0 1", "0 1", "0 1 S3",
     "futex(2) reads the word as a seq_cst load does, and nothing older than the last wake"},
    {"told+rel+acq", 1, {told_release_0, park_if_told}, NULL, "0 1", "0 1", "0 1", "futex(2)"},
    {"sleep+rmws", 0, {write_and_look, count_and_park}, NULL, "", "", "", "store buffering: SB+rmws+sc-loads"},
    {"sleep+fences", 0, {sleep_0, sleep_1}, NULL, "", "", "", "store buffering: SB+fences"},
    {"sleep", 0, {sleep_bare_0, sleep_bare_1}, NULL, "", " S3", " S3", "store buffering: SB"},
};
const uint32_t litmus_program_count = sizeof litmus_programs / sizeof litmus_programs[0];
