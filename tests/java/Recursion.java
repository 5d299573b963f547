// SPDX-License-Identifier: Apache-2.0
/**
 * Deep stacks: even() and odd() call each other until DEPTH is used up, and burn() below them has
 * nearly all of the CPU time. While it runs, the stack has DEPTH + 1 frames of the two, one after
 * the other in turns.
 *
 * Usage: Recursion DEPTH [SECONDS]; 0 (the default) runs until it is killed. Deeper than some
 * thousands needs -Xss.
 */
public final class Recursion {
    /** So long that the way there and back, on which frames are fewer, is no more than some samples. */
    private static final long BURN_NS = 500_000_000;
    private static volatile long sink;
    private static long burntNs;

    public static void main(String[] args) {
        int depth = Integer.parseInt(args[0]);
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 0;

        // Often enough for both to be compiled.
        for (int i = 0; i < 20_000; i++)
            sink = even(10, 0);
        for (int i = 0; i < 10; i++)
            sink = even(depth, BURN_NS / 100);
        System.out.println("ready");
        System.out.flush();
        burntNs = 0;
        Ending.expect();
        long start = System.nanoTime();
        long end = start + (long) (seconds * 1e9);
        while (!Ending.isAsked() && (seconds == 0 || System.nanoTime() < end))
            sink = even(depth, BURN_NS);
        long all = System.nanoTime() - start;
        System.out.printf("share burn %.4f of %.3f s%n", (double) burntNs / all, all / 1e9);
    }

    static long even(int depth, long burnNs) {
        return depth == 0 ? burn(burnNs) : odd(depth - 1, burnNs) + 1;
    }

    static long odd(int depth, long burnNs) {
        return depth == 0 ? burn(burnNs) : even(depth - 1, burnNs) ^ 1;
    }

    static long burn(long ns) {
        long x = sink | 1;
        if (ns == 0)
            return x;
        long start = System.nanoTime();
        while (System.nanoTime() - start < ns) {
            for (int i = 0; i < 1000; i++)
                x = (x ^ x >>> 29) * 6364136223846793005L + i;
        }
        burntNs += System.nanoTime() - start;
        return x;
    }
}
