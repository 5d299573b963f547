// SPDX-License-Identifier: Apache-2.0
/**
 * A command that is done before it is warm: burns CPU time for 200 ms in Work.run() and ends. To
 * be started again and again.
 *
 * Usage: ShortLived [MILLISECONDS]
 */
public final class ShortLived {
    private static volatile long sink;

    public static void main(String[] args) {
        System.out.println("ready");
        System.out.flush();
        new Work(args.length > 0 ? Long.parseLong(args[0]) : 200).run();
    }

    static final class Work implements Runnable {
        private final long ms;

        Work(long ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            long end = System.nanoTime() + ms * 1_000_000;
            while (System.nanoTime() < end)
                sink = mix(sink | 1, 500);
        }

        static long mix(long x, int rounds) {
            for (int i = 0; i < rounds; i++)
                x = (x ^ x >>> 29) * 6364136223846793005L + i;
            return x;
        }
    }
}
