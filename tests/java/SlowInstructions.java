// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.atomic.AtomicLong;

/**
 * A slow instruction, the last one of slow(), in front of cheap(), both inlined into work(). How the
 * time is divided between them the program measures itself: it runs work() with both, and with each
 * of the two left out, in alternation.
 *
 * <pre>
 *   atomic    getAndIncrement; then cheap ones that need its result
 *   division  of longs by what is no constant
 *   miss      a load that no cache has
 *   call      of a method that is not inlined, and is slow at its end
 *   loop      cheap() is a loop, whose head follows slow(): a branch's target
 *   poll      nothing cheap: what is left is the loop's own, with its safepoint poll
 * </pre>
 *
 * Usage: SlowInstructions CASE [SECONDS], with -XX:CompileCommand=inline,SlowInstructions.slow*
 * -XX:CompileCommand=inline,SlowInstructions.cheap* -XX:CompileCommand=dontinline,..work and
 * ..callee. Prints "ready", and at its end "share slow 0.731" and "share cheap 0.269".
 */
public final class SlowInstructions {
    private static final int TURNS = 20_000;
    private static final int CHASE = 1 << 23;
    private static final AtomicLong COUNTER = new AtomicLong();
    private static int[] next;
    private static volatile long sink;

    interface Work {
        /** Which: 0 both, 1 without cheap(), 2 without slow(), 3 neither. */
        long run(int which, long x);
    }

    public static void main(String[] args) {
        Work work = workOf(args[0]);
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 10;
        warmUp(work);
        double[] first = measure(work);
        System.out.println("ready");
        System.out.flush();
        for (long end = System.nanoTime() + (long) (seconds * 1e9); System.nanoTime() < end;)
            sink = work.run(0, sink);
        double[] last = measure(work);
        double slow = (first[0] + last[0]) / 2;
        System.out.printf("share slow %.4f%nshare cheap %.4f%n", slow, 1 - slow);
    }

    private static Work workOf(String name) {
        switch (name) {
        case "atomic":
            return SlowInstructions::atomicWork;
        case "division":
            return SlowInstructions::divisionWork;
        case "miss":
            next = chase();
            return SlowInstructions::missWork;
        case "call":
            return SlowInstructions::callWork;
        case "loop":
            return SlowInstructions::loopWork;
        case "poll":
            return SlowInstructions::pollWork;
        default:
            throw new IllegalArgumentException(name);
        }
    }

    private static void warmUp(Work work) {
        for (int i = 0; i < 400; i++)
            sink = work.run(i % 4, sink);
    }

    /** The share of slow(): what work() takes less without it, of what it takes with both. */
    private static double[] measure(Work work) {
        long[] best = {Long.MAX_VALUE, Long.MAX_VALUE};
        for (int i = 0; i < 200; i++) {
            for (int which = 0; which < 2; which++) {
                long start = System.nanoTime();
                sink = work.run(which == 0 ? 0 : 2, sink);
                best[which] = Math.min(best[which], System.nanoTime() - start);
            }
        }
        return new double[] {1 - (double) best[1] / best[0]};
    }

    /** One cycle through all of it, in no order that could be foreseen. */
    private static int[] chase() {
        int[] order = new int[CHASE];
        int[] found = new int[CHASE];
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

    /** Each needs the one before it: they take their time one after the other. */
    static long cheap(long x) {
        x = (x ^ x >>> 7) + 3;
        x = (x ^ x >>> 9) + 5;
        x = (x ^ x >>> 11) + 7;
        x = (x ^ x >>> 13) + 9;
        return x;
    }

    static long atomicWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0, hasCheap = (which & 1) == 0;
        for (int i = 0; i < TURNS; i++) {
            if (hasSlow)
                x = slowAtomic(x);
            if (hasCheap)
                x = cheap(x);
        }
        return x;
    }

    static long slowAtomic(long x) {
        return COUNTER.getAndAdd(x);
    }

    static long divisionWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0, hasCheap = (which & 1) == 0;
        x |= 1;
        for (int i = 0; i < TURNS; i++) {
            if (hasSlow)
                x = slowDivision(x);
            if (hasCheap)
                x = cheap(x);
        }
        return x;
    }

    static long slowDivision(long x) {
        return Long.MAX_VALUE / (x | 1);
    }

    static long missWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0, hasCheap = (which & 1) == 0;
        int[] from = next;
        int at = (int) x & CHASE - 1;
        for (int i = 0; i < TURNS; i++) {
            if (hasSlow)
                at = slowMiss(from, at);
            if (hasCheap)
                at = (int) cheapAfterMiss(at) & CHASE - 1;
        }
        return at;
    }

    static int slowMiss(int[] from, int at) {
        return from[at];
    }

    /** Nothing of the value may get lost, or the chase would come back to itself. */
    static long cheapAfterMiss(long x) {
        for (int i = 1; i <= 16; i++)
            x = (x ^ x << 1) * 5 + i;
        return x;
    }

    static long callWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0, hasCheap = (which & 1) == 0;
        for (int i = 0; i < TURNS; i++) {
            if (hasSlow)
                x = slowCall(x);
            if (hasCheap)
                x = cheap(x);
        }
        return x;
    }

    static long slowCall(long x) {
        return callee(x);
    }

    static long callee(long x) {
        return Long.MAX_VALUE / (x | 1);
    }

    static long loopWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0, hasCheap = (which & 1) == 0;
        for (int i = 0; i < TURNS; i++) {
            if (hasSlow)
                x = slowAtomic(x);
            if (hasCheap)
                x = cheapLoop(x);
        }
        return x;
    }

    /** As many turns as no compiler can foresee, and too few to be unrolled. */
    static long cheapLoop(long x) {
        long turns = (x & 1) + 6;
        long sum = x;
        do {
            sum = (sum ^ sum >>> 7) + 3;
        } while (--turns > 0);
        return sum;
    }

    static long pollWork(int which, long x) {
        boolean hasSlow = (which & 2) == 0;
        for (long i = 0; i < TURNS; i++) {
            if (hasSlow)
                x = slowAtomic(x);
        }
        return x;
    }
}
