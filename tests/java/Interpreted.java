// SPDX-License-Identifier: Apache-2.0
/**
 * For -Xint: Half.run() has 50 % of the CPU time, Third.run() 30 % and Fifth.run() 20 %, each with
 * a callee of its own, so that interpreted frames lie on interpreted frames.
 *
 * Usage: Interpreted [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Interpreted {
    /** About a millisecond for the interpreter. */
    private static final int ROUNDS = 30_000;
    private static volatile long sink;

    public static void main(String[] args) {
        Shares shares = new Shares(new String[] {"half", "third", "fifth"},
                                   new double[] {0.5, 0.3, 0.2},
                                   new Shares.Phase[] {new Half(), new Third(), new Fifth()});
        shares.runRounds(5);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    static final class Half implements Shares.Phase {
        @Override
        public void run() {
            sink = multiply(sink | 1, ROUNDS);
        }
    }

    static final class Third implements Shares.Phase {
        @Override
        public void run() {
            sink = shift(sink | 1, ROUNDS);
        }
    }

    static final class Fifth implements Shares.Phase {
        @Override
        public void run() {
            sink = divide(sink | 1, ROUNDS);
        }
    }

    static long multiply(long x, int rounds) {
        for (int i = 0; i < rounds; i++)
            x = (x ^ x >>> 29) * 6364136223846793005L + i;
        return x;
    }

    static long shift(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long divide(long x, int rounds) {
        for (int i = 1; i < rounds; i++)
            x += (x << i | x >>> -i) / i;
        return x;
    }
}
