// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A slow instruction, the last one of slow(), in front of cheap(), both inlined into work(). How the
 * time is divided between them the program measures itself, by what it takes more to have slow()
 * twice, and by what it takes more to have cheap() twice. What each needs is the other's result, so
 * that they take their time one after the other, and both shares together are 1.
 *
 * <pre>
 *   atomic    getAndAdd
 *   division  three of longs, each by the result of the one before
 *   miss      a load that no cache has
 *   call      of a method that is not inlined, and ends with what is slow
 *   loop      cheap() is a loop, whose head is behind slow(): where a branch leads
 *   beside    getAndIncrement, and arithmetic that needs nothing of it
 *   poll      nothing cheap: what is left is the loop's own, with its safepoint poll
 * </pre>
 *
 * Usage: SlowInstructions CASE[,CASE...] [SECONDS], with -XX:CompileCommand=inline for slow* and
 * cheap*, and dontinline for *Work, *Twice and callee. Each case has the same share of SECONDS.
 * Prints "ready", and at its end "share atomic_slow 0.231 of its time", "share atomic_cheap 0.769 ..."
 * and so on. With -Dgo=FILE the program waits, once it is ready, until that file is there.
 */
public final class SlowInstructions {
    private static final int TURNS = 10_000;
    private static final int ROUNDS = 4; // of a measurement
    private static final int ROUNDS_MAX = 10_000;
    private static final long BETWEEN_NS = 40_000_000; // two measurements
    private static final int CHASE = 1 << 24; // 128 MiB: more than caches have
    private static final AtomicLong COUNTER = new AtomicLong();
    private static final AtomicLongArray COUNTERS = new AtomicLongArray(1024);
    private static long[] next;
    private static volatile long sink;

    interface Work {
        long run(long x);
    }

    public static void main(String[] args) throws InterruptedException {
        String[] names = args[0].split(",");
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 10;
        String go = System.getProperty("go");
        for (String name : names)
            warmUp(worksOf(name));
        System.out.println("ready");
        System.out.flush();
        while (go != null && !Files.exists(Path.of(go)))
            Thread.sleep(10);
        for (String name : names) {
            double[] shares = runFor(worksOf(name), seconds / names.length);
            for (int half = 0; half < 2; half++)
                System.out.printf("share %s_%s %.4f of its time%n", name,
                                  half == 0 ? "slow" : "cheap", Math.max(0, shares[half]));
        }
    }

    private static void warmUp(Work[] works) {
        for (int i = 0; i < 300; i++) {
            for (Work work : works)
                sink = work.run(sink);
        }
    }

    /**
     * Runs the first for so long, and meanwhile measures, again and again: what slow() takes and what
     * cheap() takes, of the time of both. It changes with what else the machine does.
     */
    private static double[] runFor(Work[] works, double seconds) {
        long[][] took = new long[works.length][ROUNDS_MAX];
        int rounds = 0;
        for (long end = System.nanoTime() + (long) (seconds * 1e9); System.nanoTime() < end;) {
            for (long next = System.nanoTime() + BETWEEN_NS; System.nanoTime() < next;)
                sink = works[0].run(sink);
            for (int i = 0; i < ROUNDS && rounds < ROUNDS_MAX; i++)
                measure(works, took, rounds++);
        }
        double both = mean(took[0], rounds);
        return new double[] {mean(took[1], rounds) / both - 1, mean(took[2], rounds) / both - 1};
    }

    private static void measure(Work[] works, long[][] took, int round) {
        for (int j = 0; j < works.length; j++) {
            long start = System.nanoTime();
            sink = works[j].run(sink);
            took[j][round] = System.nanoTime() - start;
        }
    }

    /** Without the tenth that took the longest: there another process ran, not this one. */
    private static double mean(long[] took, int rounds) {
        Arrays.sort(took, 0, rounds);
        return Arrays.stream(took, 0, rounds - rounds / 10).average().orElse(Double.NaN);
    }

    /** With both, with slow() twice, with cheap() twice. */
    private static Work[] worksOf(String name) {
        switch (name) {
        case "atomic":
            return new Work[] {SlowInstructions::atomicWork, SlowInstructions::atomicTwice,
                               SlowInstructions::atomicCheapTwice};
        case "division":
            return new Work[] {SlowInstructions::divisionWork, SlowInstructions::divisionTwice,
                               SlowInstructions::divisionCheapTwice};
        case "miss":
            next = next == null ? chase() : next;
            return new Work[] {SlowInstructions::missWork, SlowInstructions::missTwice,
                               SlowInstructions::missCheapTwice};
        case "call":
            return new Work[] {SlowInstructions::callWork, SlowInstructions::callTwice,
                               SlowInstructions::callCheapTwice};
        case "loop":
            return new Work[] {SlowInstructions::loopWork, SlowInstructions::loopTwice,
                               SlowInstructions::loopCheapTwice};
        case "beside":
            return new Work[] {SlowInstructions::besideWork, SlowInstructions::besideTwice,
                               SlowInstructions::besideCheapTwice};
        case "poll":
            return new Work[] {SlowInstructions::pollWork, SlowInstructions::pollTwice,
                               SlowInstructions::pollWork};
        default:
            throw new IllegalArgumentException(name);
        }
    }

    /** One cycle through all of it, in an order that nothing foresees. */
    private static long[] chase() {
        int[] order = new int[CHASE];
        long[] found = new long[CHASE];
        long seed = 42;
        for (int i = 0; i < CHASE; i++)
            order[i] = i;
        for (int i = CHASE - 1; i > 0; i--) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            int j = (int) Long.remainderUnsigned(seed >>> 16, i);
            int kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        for (int i = 0; i < CHASE; i++)
            found[order[i]] = order[(i + 1) % CHASE];
        return found;
    }

    static long cheap(long x) {
        x = (x ^ x >>> 7) + 3;
        x = (x ^ x >>> 9) + 5;
        x = (x ^ x >>> 11) + 7;
        x = (x ^ x >>> 13) + 9;
        x = (x ^ x >>> 15) + 11;
        x = (x ^ x >>> 17) + 13;
        x = (x ^ x >>> 19) + 15;
        x = (x ^ x >>> 21) + 17;
        return x;
    }

    /* ---- atomic ---- */

    static long atomicWork(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowAtomic(x));
        return x;
    }

    static long atomicTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowAtomic(slowAtomic(x)));
        return x;
    }

    static long atomicCheapTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(cheap(slowAtomic(x)));
        return x;
    }

    /** Which one it is depends on x, or it would begin before x is there. */
    static long slowAtomic(long x) {
        return COUNTERS.getAndAdd((int) x & 1023, x);
    }

    /* ---- division ---- */

    static long divisionWork(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowDivision(x));
        return x;
    }

    static long divisionTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowDivision(slowDivision(x)));
        return x;
    }

    static long divisionCheapTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(cheap(slowDivision(x)));
        return x;
    }

    /** Each with a result of 47 bits: how long it takes depends on that. */
    static long slowDivision(long x) {
        x = Long.MAX_VALUE / (x & 0xffff | 0x10000);
        x = Long.MAX_VALUE / (x & 0xffff | 0x10000);
        return Long.MAX_VALUE / (x & 0xffff | 0x10000);
    }

    /* ---- miss ---- */

    static long missWork(long x) {
        long[] from = next;
        for (int i = 0; i < TURNS; i++)
            x = cheapAfterMiss(slowMiss(from, x));
        return x;
    }

    static long missTwice(long x) {
        long[] from = next;
        for (int i = 0; i < TURNS; i++)
            x = cheapAfterMiss(slowMiss(from, slowMiss(from, x)));
        return x;
    }

    static long missCheapTwice(long x) {
        long[] from = next;
        for (int i = 0; i < TURNS; i++)
            x = cheapAfterMiss(cheapAfterMiss(slowMiss(from, x)));
        return x;
    }

    static long slowMiss(long[] from, long x) {
        x = from[(int) x & CHASE - 1];
        return x ^ x >>> 40; /* used twice, so that the load is an instruction of its own */
    }

    /** A permutation of what there is, so that the chase does not come back to itself soon. */
    static long cheapAfterMiss(long x) {
        for (int i = 0; i < 24; i++)
            x = (x ^ i << 1) + 1 & CHASE - 1;
        return x;
    }

    /* ---- call ---- */

    static long callWork(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowCall(x));
        return x;
    }

    static long callTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(slowCall(slowCall(x)));
        return x;
    }

    static long callCheapTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheap(cheap(slowCall(x)));
        return x;
    }

    static long slowCall(long x) {
        return callee(x);
    }

    static long callee(long x) {
        x = Long.MAX_VALUE / (x & 0xffff | 0x10000);
        return Long.MAX_VALUE / (x & 0xffff | 0x10000);
    }

    /* ---- loop ---- */

    static long loopWork(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheapLoop(slowDivision(x));
        return x;
    }

    static long loopTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheapLoop(slowDivision(slowDivision(x)));
        return x;
    }

    static long loopCheapTwice(long x) {
        for (int i = 0; i < TURNS; i++)
            x = cheapLoop(cheapLoop(slowDivision(x)));
        return x;
    }

    /** Not unrolled: how long it goes on is known by each turn alone. */
    static long cheapLoop(long x) {
        long end = x & 0xff;
        long turns = 0;
        do {
            x = (x ^ x >>> 7) + 3;
        } while (++turns < 12 || x == end);
        return x;
    }

    /* ---- beside ---- */

    static long besideWork(long x) {
        for (int i = 0; i < TURNS; i++) {
            slowIncrement();
            x = cheapFew(x, i);
        }
        return x;
    }

    static long besideTwice(long x) {
        for (int i = 0; i < TURNS; i++) {
            slowIncrement();
            slowIncrement();
            x = cheapFew(x, i);
        }
        return x;
    }

    static long besideCheapTwice(long x) {
        for (int i = 0; i < TURNS; i++) {
            slowIncrement();
            x = cheapFew(cheapFew(x, i), i);
        }
        return x;
    }

    static void slowIncrement() {
        COUNTER.getAndIncrement();
    }

    static long cheapFew(long x, int i) {
        return (x ^ i) * 31 + i;
    }

    /* ---- poll ---- */

    static long pollWork(long x) {
        for (long i = 0; i < TURNS; i++)
            x = slowAtomic(x);
        return x;
    }

    static long pollTwice(long x) {
        for (long i = 0; i < TURNS; i++)
            x = slowAtomic(slowAtomic(x));
        return x;
    }
}
