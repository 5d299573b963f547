// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Many threads, named worker-000 and so on, that take turns of a millisecond: as many at a time
 * as there are CPUs, first come, first served, so that each has the same share.
 *
 * Usage: Threads N [SECONDS [NAME]]; 0 (the default) runs until it is killed. A name stands in
 * place of "worker-".
 */
public final class Threads {
    private static final long TURN_NS = 1_000_000;
    private static final Semaphore TURNS =
        new Semaphore(Runtime.getRuntime().availableProcessors(), true);
    private static volatile long sink;
    private static volatile boolean ended;

    public static void main(String[] args) throws InterruptedException {
        int count = Integer.parseInt(args[0]);
        double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 0;
        String name = args.length > 2 ? args[2] : "worker-";
        AtomicLongArray turns = new AtomicLongArray(count);
        Thread[] threads = new Thread[count];

        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(new Worker(turns, i), String.format("%s%03d", name, i));
            threads[i].setDaemon(true);
            threads[i].start();
        }
        for (int i = 0; i < count; i++) {
            while (turns.get(i) < 5)
                Thread.sleep(1);
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(seconds == 0 ? Long.MAX_VALUE : (long) (seconds * 1000));
        ended = true;
        long least = Long.MAX_VALUE;
        long all = 0;
        for (int i = 0; i < count; i++) {
            least = Math.min(least, turns.get(i));
            all += turns.get(i);
        }
        System.out.println("turns " + all + " of " + count + " threads, at least " + least);
    }

    static final class Worker implements Runnable {
        private final AtomicLongArray turns;
        private final int number;

        Worker(AtomicLongArray turns, int number) {
            this.turns = turns;
            this.number = number;
        }

        @Override
        public void run() {
            while (!ended) {
                TURNS.acquireUninterruptibly();
                try {
                    burn();
                } finally {
                    TURNS.release();
                }
                turns.incrementAndGet(number);
            }
        }

        private void burn() {
            long end = System.nanoTime() + TURN_NS;
            long x = number | 1;
            while (System.nanoTime() < end) {
                for (int i = 0; i < 1000; i++)
                    x = (x ^ x >>> 29) * 6364136223846793005L + i;
            }
            sink = x;
        }
    }
}
