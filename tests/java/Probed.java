// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * Knows what it allocates and how long it waits for a lock: some 100 MB/s of arrays of 1 KiB, and a
 * monitor that others have most of the time.
 *
 * <p>Ten times a second there is a line: "told", the bytes allocated, the waits that have ended, and
 * their nanoseconds, all since the begin. With the argument "virtual" there are several threads that
 * wait, all virtual.
 */
public final class Probed {
    static final int PIECES = 100, PIECE_BYTES = 1024, HEADER_BYTES = 16, VIRTUAL_THREADS = 8;
    static final Object LOCK = new Object();
    static volatile Object sink;
    static volatile long allocated, waits, waited;

    static void allocate() {
        for (;;) {
            for (int i = 0; i < PIECES; i++) {
                sink = new byte[PIECE_BYTES];
            }
            allocated += PIECES * (PIECE_BYTES + HEADER_BYTES);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Has the lock for 4 ms at a time, and lets go of it for at least 1 ms. */
    static void hold() {
        for (;;) {
            synchronized (LOCK) {
                LockSupport.parkNanos(4_000_000);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    static void await() {
        for (;;) {
            long begin = System.nanoTime();

            synchronized (LOCK) {
                waited += System.nanoTime() - begin;
                waits++;
            }
            LockSupport.parkNanos(500_000);
        }
    }

    static void start(Runnable work) {
        Thread thread = new Thread(work);

        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        start(Probed::allocate);
        start(Probed::hold);
        if (args.length > 0 && args[0].equals("virtual")) {
            for (int i = 0; i < VIRTUAL_THREADS; i++) {
                Thread.class.getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) Probed::await);
            }
        } else {
            start(Probed::await);
        }
        System.out.println("ready");
        for (;;) {
            System.out.println("told " + allocated + " " + waits + " " + waited);
            Thread.sleep(100);
        }
    }
}
