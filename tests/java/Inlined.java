// SPDX-License-Identifier: Apache-2.0
/**
 * burnA() has 50 % of the CPU time, burnB() 30 % and burnC() 20 %, all called by caller() alone.
 * The flags of the JVM decide what the compiler makes of them:
 *
 *   each alone:       -XX:CompileCommand=dontinline,Inlined.*
 *   all in caller():  -XX:CompileCommand=inline,Inlined.burn*
 *                     -XX:CompileCommand=dontinline,Inlined.caller
 *
 * Usage: Inlined [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Inlined {
    /** As many calls as caller() needs to be compiled for good, each next to nothing. */
    private static final int WARM_UP = 20_000;
    /** Some milliseconds for each. */
    private static final int[] ROUNDS = {3_000_000, 3_600_000, 1_200_000};
    private static int divisor = 1;
    private static volatile long sink;

    public static void main(String[] args) {
        Shares shares = new Shares(new String[] {"burnA", "burnB", "burnC"},
                                   new double[] {0.5, 0.3, 0.2},
                                   new Shares.Phase[] {new CallA(), new CallB(), new CallC()});
        // Compiled by the number of calls, with all three branches taken and all loops ended.
        divisor = 100_000;
        shares.runRounds(WARM_UP);
        divisor = 1;
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    static final class CallA implements Shares.Phase {
        @Override
        public void run() {
            caller(0);
        }
    }

    static final class CallB implements Shares.Phase {
        @Override
        public void run() {
            caller(1);
        }
    }

    static final class CallC implements Shares.Phase {
        @Override
        public void run() {
            caller(2);
        }
    }

    /** One call site for each, and all three in one piece of code. */
    static void caller(int which) {
        int rounds = ROUNDS[which] / divisor;
        if (which == 0)
            sink = burnA(sink | 1, rounds);
        else if (which == 1)
            sink = burnB(sink | 1, rounds);
        else
            sink = burnC(sink | 1, rounds);
    }

    static long burnA(long x, int rounds) {
        for (int i = 0; i < rounds; i++)
            x = (x ^ x >>> 29) * 6364136223846793005L + i;
        return x;
    }

    static long burnB(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long burnC(long x, int rounds) {
        for (int i = 1; i < rounds; i++)
            x += Long.rotateLeft(x, i) / i;
        return x;
    }
}
