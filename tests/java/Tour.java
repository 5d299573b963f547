// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Does a little of everything that there is a kind of profile of, for ever, each in a thread and a
 * method of its own: computes, sleeps, allocates, waits for a monitor and for a lock, throws. Each
 * method has its name on the stack whenever its thread does that.
 */
public final class Tour {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile long sink;
    static volatile Object kept;

    static final class Piece {
        final long[] words = new long[64];
    }

    static final class Oops extends Exception {
        private static final long serialVersionUID = 1;
    }

    static void compute() {
        long x = sink | 1;

        for (int i = 0; i < 1_000_000; i++) {
            x = (x ^ x >>> 29) * 6364136223846793005L + i;
        }
        sink = x;
        LockSupport.parkNanos(2_000_000);
    }

    static void sleepOften() {
        LockSupport.parkNanos(20_000_000);
    }

    static void allocate() {
        for (int i = 0; i < 2000; i++) {
            kept = new Piece();
        }
        LockSupport.parkNanos(5_000_000);
    }

    static void hold() {
        synchronized (MONITOR) {
            LOCK.lock();
            LockSupport.parkNanos(3_000_000);
            LOCK.unlock();
        }
        LockSupport.parkNanos(1_000_000);
    }

    static void waitForTheMonitor() {
        synchronized (MONITOR) {
            sink++;
        }
        LockSupport.parkNanos(1_000_000);
    }

    static void waitForTheLock() {
        LOCK.lock();
        LOCK.unlock();
        LockSupport.parkNanos(1_000_000);
    }

    static void throwOften() {
        try {
            throw new Oops();
        } catch (Oops e) {
            kept = e;
        }
        LockSupport.parkNanos(10_000_000);
    }

    static void start(String name, Runnable work) {
        Thread thread = new Thread(() -> {
            for (;;) {
                work.run();
            }
        }, name);

        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        start("a-thread-that-computes", Tour::compute);
        start("sleeper", Tour::sleepOften);
        start("allocator", Tour::allocate);
        start("holder", Tour::hold);
        start("monitor-waiter", Tour::waitForTheMonitor);
        start("lock-waiter", Tour::waitForTheLock);
        start("thrower", Tour::throwOften);
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
