// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads, for JDK 21 and later: half of them burn CPU time and park in turns, so that they
 * are mounted again and again, on whichever carrier; half do so 200 frames deep, which leaves most
 * of their frames in the heap when they are mounted again.
 *
 * Usage: Virtual [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Virtual {
    private static final int THREADS = 32;
    private static final int DEPTH = 200;
    private static volatile long sink;
    private static volatile boolean ended;
    private static final AtomicLong SHALLOW_NS = new AtomicLong();
    private static final AtomicLong DEEP_NS = new AtomicLong();

    public static void main(String[] args) throws InterruptedException {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 0;
        CountDownLatch warm = new CountDownLatch(THREADS);

        for (int i = 0; i < THREADS; i++) {
            Runnable task = i % 2 == 0 ? new Shallow(warm) : new Deep(warm);
            Thread.ofVirtual().name("virtual-" + i).start(task);
        }
        warm.await();
        System.out.println("ready");
        System.out.flush();
        SHALLOW_NS.set(0);
        DEEP_NS.set(0);
        Thread.sleep(seconds == 0 ? Long.MAX_VALUE : (long) (seconds * 1000));
        ended = true;
        long all = SHALLOW_NS.get() + DEEP_NS.get();
        print("shallow", SHALLOW_NS.get(), all);
        print("deep", DEEP_NS.get(), all);
    }

    private static void print(String name, long ns, long all) {
        System.out.printf("share %s %.4f of %.3f s%n", name, (double) ns / all, all / 1e9);
    }

    private static void burn(AtomicLong spent) {
        long start = System.nanoTime();
        long x = sink | 1;
        while (System.nanoTime() - start < 1_000_000) {
            for (int i = 0; i < 1000; i++)
                x = (x ^ x >>> 29) * 6364136223846793005L + i;
        }
        sink = x;
        spent.addAndGet(System.nanoTime() - start);
    }

    static final class Shallow implements Runnable {
        private final CountDownLatch warm;

        Shallow(CountDownLatch warm) {
            this.warm = warm;
        }

        @Override
        public void run() {
            for (long turn = 0; !ended; turn++) {
                burn(SHALLOW_NS);
                LockSupport.parkNanos(100_000);
                if (turn == 10)
                    warm.countDown();
            }
        }
    }

    static final class Deep implements Runnable {
        private final CountDownLatch warm;

        Deep(CountDownLatch warm) {
            this.warm = warm;
        }

        @Override
        public void run() {
            for (long turn = 0; !ended; turn++) {
                descend(DEPTH);
                if (turn == 10)
                    warm.countDown();
            }
        }

        private static int descend(int depth) {
            if (depth > 0)
                return descend(depth - 1) + 1;
            burn(DEEP_NS);
            LockSupport.parkNanos(100_000);
            burn(DEEP_NS);
            return 0;
        }
    }
}
