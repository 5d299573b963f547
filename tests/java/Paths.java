// SPDX-License-Identifier: Apache-2.0
/**
 * Very many different stacks: a way through left() and right() by chance, 18 turns long, and at its
 * end half a millisecond of work, so that hardly any stack comes twice.
 *
 * Usage: Paths [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Paths {
    private static final int DEPTH = 18;
    private static final long BURN_NS = 500_000;
    private static final java.util.SplittableRandom CHANCE = new java.util.SplittableRandom();
    private static volatile long sink;

    private Paths() {}

    static long left(int depth, long way) {
        return depth == 0 ? burn() : go(depth, way) + 1;
    }

    static long right(int depth, long way) {
        return depth == 0 ? burn() : go(depth, way) ^ 1;
    }

    static long go(int depth, long way) {
        return (way & 1) == 0 ? left(depth - 1, way >>> 1) : right(depth - 1, way >>> 1);
    }

    static long burn() {
        long x = sink | 1;
        long start = System.nanoTime();
        while (System.nanoTime() - start < BURN_NS) {
            for (int i = 0; i < 1000; i++)
                x = (x ^ x >>> 29) * 6364136223846793005L + i;
        }
        return x;
    }

    public static void main(String[] args) {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 0;

        for (int i = 0; i < 2000; i++)
            sink = go(DEPTH, CHANCE.nextLong());
        System.out.println("ready");
        System.out.flush();
        Ending.expect();
        long start = System.nanoTime();
        while (!Ending.isAsked() && (seconds == 0 || System.nanoTime() - start < seconds * 1e9))
            sink = go(DEPTH, CHANCE.nextLong());
    }
}
