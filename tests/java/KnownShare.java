// SPDX-License-Identifier: Apache-2.0
/**
 * Hot.run() has 60 % of the CPU time, Warm.run() 30 % and Cold.run() 10 %. A call of each takes
 * about 10 ms, so that none is called so much more often that the compiler would inline it.
 *
 * Usage: KnownShare [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class KnownShare {
    private static volatile long sink;

    public static void main(String[] args) {
        Shares shares = new Shares(new String[] {"hot", "warm", "cold"},
                                   new double[] {0.6, 0.3, 0.1},
                                   new Shares.Phase[] {new Hot(), new Warm(), new Cold()});
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    static final class Hot implements Shares.Phase {
        @Override
        public void run() {
            long x = sink | 1;
            for (int i = 0; i < 5_000_000; i++)
                x = (x ^ x >>> 29) * 6364136223846793005L + i;
            sink = x;
        }
    }

    static final class Warm implements Shares.Phase {
        @Override
        public void run() {
            long x = sink | 1;
            for (int i = 0; i < 6_000_000; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            sink = x;
        }
    }

    static final class Cold implements Shares.Phase {
        @Override
        public void run() {
            long x = sink | 1;
            for (int i = 1; i < 2_000_000; i++)
                x += Long.rotateLeft(x, i) / i;
            sink = x;
        }
    }
}
