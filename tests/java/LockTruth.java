// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Knows how long it waits for which lock: three monitors of different classes, for which a thread
 * each waits, 50, 30 and 20 % of the time of all three, and three locks of java.util.concurrent,
 * likewise.
 *
 * <p>A thread that waits notes the time around its acquisition. Beside them threads wait for work
 * all the time, in pools and queues, for a notification or for a moment; these wait for no lock.
 * Argument: seconds=6, the length of a turn. Rows are of the kinds "monitor" and "lock".
 */
public final class LockTruth {
    static final long CYCLE_MS = 20;
    static final int[] HELD_MS = {10, 6, 4};
    static volatile boolean ends;
    static volatile long sink;

    static final class Account {
    }

    static final class Order {
    }

    /** A lock that one thread has for some time of each cycle, and for which another waits then. */
    abstract static class Site {
        final String kind, type, name;
        final long heldMs;
        volatile boolean held;
        long waits, ns;
        private Thread holder, waiter;

        Site(String kind, String type, String name, long heldMs) {
            this.kind = kind;
            this.type = type;
            this.name = name;
            this.heldMs = heldMs;
        }

        /** Runs that with the lock. */
        abstract void hold() throws InterruptedException;

        /** Acquires the lock and lets go of it; the nanoseconds until it was acquired. */
        abstract long acquire();

        final void keep() throws InterruptedException {
            held = true;
            Thread.sleep(heldMs);
            held = false;
        }

        void begin() {
            waits = ns = 0;
            holder = launch("holds-" + name, () -> {
                while (!ends) {
                    hold();
                    Thread.sleep(CYCLE_MS - heldMs);
                }
            });
            waiter = launch("waits-" + name, () -> {
                while (!ends) {
                    if (held) {
                        ns += acquire();
                        waits++;
                    }
                    LockSupport.parkNanos(100_000);
                }
            });
        }

        void end(Turns truth) throws InterruptedException {
            holder.join();
            waiter.join();
            truth.add(kind, type, "LockTruth$" + name + ".acquire", waits, ns);
        }
    }

    abstract static class MonitorSite extends Site {
        final Object monitor;

        MonitorSite(String name, Object monitor, long heldMs) {
            super("monitor", monitor.getClass().getTypeName(), name, heldMs);
            this.monitor = monitor;
        }

        @Override
        void hold() throws InterruptedException {
            synchronized (monitor) {
                keep();
            }
        }
    }

    static final class FirstMonitor extends MonitorSite {
        FirstMonitor() {
            super("FirstMonitor", new Account(), HELD_MS[0]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            synchronized (monitor) {
                return System.nanoTime() - begin;
            }
        }
    }

    static final class SecondMonitor extends MonitorSite {
        SecondMonitor() {
            super("SecondMonitor", new Order(), HELD_MS[1]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            synchronized (monitor) {
                return System.nanoTime() - begin;
            }
        }
    }

    static final class ThirdMonitor extends MonitorSite {
        ThirdMonitor() {
            super("ThirdMonitor", new byte[1], HELD_MS[2]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            synchronized (monitor) {
                return System.nanoTime() - begin;
            }
        }
    }

    abstract static class LockSite extends Site {
        final Lock lock;

        LockSite(String name, String type, Lock lock, long heldMs) {
            super("lock", type, name, heldMs);
            this.lock = lock;
        }

        @Override
        void hold() throws InterruptedException {
            lock.lock();
            try {
                keep();
            } finally {
                lock.unlock();
            }
        }
    }

    static final class FirstLock extends LockSite {
        FirstLock() {
            super("FirstLock", ReentrantLock.class.getName(), new ReentrantLock(), HELD_MS[0]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            lock.lock();
            try {
                return System.nanoTime() - begin;
            } finally {
                lock.unlock();
            }
        }
    }

    static final class SecondLock extends LockSite {
        SecondLock() {
            super("SecondLock", ReentrantLock.class.getName(), new ReentrantLock(true), HELD_MS[1]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            lock.lock();
            try {
                return System.nanoTime() - begin;
            } finally {
                lock.unlock();
            }
        }
    }

    static final class ThirdLock extends LockSite {
        ThirdLock() {
            super("ThirdLock", ReentrantReadWriteLock.class.getName(),
                  new ReentrantReadWriteLock().writeLock(), HELD_MS[2]);
        }

        @Override
        long acquire() {
            long begin = System.nanoTime();

            lock.lock();
            try {
                return System.nanoTime() - begin;
            } finally {
                lock.unlock();
            }
        }
    }

    interface Task {
        void run() throws InterruptedException;
    }

    static Thread launch(String name, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);

        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Threads that wait for work, for a moment or for each other, and hardly ever for a lock. */
    static void idle() {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES,
                                                         new LinkedBlockingQueue<>());
        ForkJoinPool forks = new ForkJoinPool(2);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1, task -> {
            Thread thread = new Thread(task, "timer");
            thread.setDaemon(true);
            return thread;
        });
        Object condition = new Object();

        timer.scheduleAtFixedRate(() -> {
            pool.execute(() -> sink++);
            forks.execute(() -> sink++);
        }, 0, 7, TimeUnit.MILLISECONDS);
        launch("sleeps", () -> {
            for (;;) {
                Thread.sleep(5);
            }
        });
        launch("parks", () -> {
            for (;;) {
                LockSupport.parkNanos(5_000_000);
            }
        });
        launch("is-notified", () -> {
            for (;;) {
                synchronized (condition) {
                    condition.wait(5);
                }
            }
        });
        launch("polls", () -> {
            LinkedBlockingQueue<Object> empty = new LinkedBlockingQueue<>();

            for (;;) {
                empty.poll(5, TimeUnit.MILLISECONDS);
            }
        });
        launch("counts-down", () -> {
            for (;;) {
                new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS);
            }
        });
    }

    public static void main(String[] args) throws Exception {
        long ms = (long) (Double.parseDouble(Turns.option(args, "seconds", "6")) * 1000);
        Site[] sites = {new FirstMonitor(), new SecondMonitor(), new ThirdMonitor(),
                        new FirstLock(), new SecondLock(), new ThirdLock()};

        idle();
        Turns.serve(turn -> {
            ends = false;
            for (Site site : sites) {
                site.begin();
            }
            Thread.sleep(ms);
            ends = true;
            for (Site site : sites) {
                site.end(turn);
            }
        });
    }
}
