// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM that rests most of the time, and has something of each kind: KnownShare's three methods by
 * its shares, arrays of 64 KiB, an exception, and a wait for a lock that a second thread holds.
 *
 * <p>Arguments: percent=4, how much of a CPU it takes; seconds=0, until SIGTERM.
 */
public final class Resting {
    private static final Object LOCK = new Object();
    private static volatile Object sink;
    private static volatile long waits;

    private Resting() {}

    static void allocateArrays() {
        for (int i = 0; i < 8; i++)
            sink = new byte[65536];
    }

    static void throwState() {
        throw new IllegalStateException("as always");
    }

    static void takeLock() {
        synchronized (LOCK) {
            waits++;
        }
    }

    static void holdLock() {
        synchronized (LOCK) {
            LockSupport.parkNanos(5_000_000);
        }
    }

    private static void holdWhenAsked() {
        while (true) {
            LockSupport.park();
            holdLock();
        }
    }

    private static void turn(Shares shares, Thread holder) {
        shares.step();
        allocateArrays();
        try {
            throwState();
        } catch (IllegalStateException e) {
            sink = e;
        }
        LockSupport.unpark(holder);
        LockSupport.parkNanos(1_000_000);
        takeLock();
    }

    public static void main(String[] args) {
        double percent = Double.parseDouble(Turns.option(args, "percent", "4"));
        double seconds = Double.parseDouble(Turns.option(args, "seconds", "0"));
        Shares shares = new Shares(new String[] {"hot", "warm", "cold"},
                                   new double[] {0.6, 0.3, 0.1},
                                   new Shares.Phase[] {new KnownShare.Hot(), new KnownShare.Warm(),
                                                       new KnownShare.Cold()});
        Thread holder = new Thread(Resting::holdWhenAsked, "holder");

        holder.setDaemon(true);
        holder.start();
        Ending.expect();
        System.out.println("ready");
        System.out.flush();
        long begin = System.nanoTime();
        while (!Ending.isAsked() && (seconds == 0 || System.nanoTime() - begin < seconds * 1e9)) {
            long before = shares.spentNs();
            turn(shares, holder);
            LockSupport.parkNanos((long) ((shares.spentNs() - before) * (100 / percent - 1)));
        }
        shares.print();
    }
}
