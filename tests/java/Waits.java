// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that know how long they have waited for what.
 *
 * <p>Four times a second there is a line for each thread: its name, and the nanoseconds that it has
 * spent in sleep, lock, socket, disk and run since it began. With the argument "spin" there are two
 * more threads that run all the time; their lines have what they ran, and what they waited for a
 * processor. Files are in java.io.tmpdir, which is to be on a disk: in memory they wait for nothing.
 */
final class Waits {
    static final int SLEEP = 0, LOCK = 1, SOCKET = 2, DISK = 3, RUN = 4, PHASES = 5;
    static volatile long sink;

    /** Nanoseconds of each phase; the phase that is going on counts up to now. */
    static final class Clock {
        private final long[] spent = new long[PHASES];
        private int phase = RUN;
        private long since = System.nanoTime();

        synchronized void enter(int next) {
            long now = System.nanoTime();

            spent[phase] += now - since;
            phase = next;
            since = now;
        }

        synchronized String line(String name) {
            StringBuilder line = new StringBuilder(name);

            enter(phase);
            for (long ns : spent) {
                line.append(' ').append(ns);
            }
            return line.toString();
        }
    }

    static final class Worker extends Thread {
        final Clock clock = new Clock();
        private final Object monitor = new Object();
        private final Random random = new Random();
        private final byte[] block = new byte[256 << 10];
        private final int[] phases;
        private final Socket socket;
        private final RandomAccessFile file;

        Worker(String name, ServerSocket server, int... phases) throws Exception {
            super(name);
            this.phases = phases;
            socket = new Socket(server.getInetAddress(), server.getLocalPort());
            serve(name + "-answers", server.accept());
            file = new RandomAccessFile(File.createTempFile("waits", ".bin"), "rw");
            launch("holder-of-" + name, this::hold);
            setDaemon(true);
        }

        /** Has the lock most of the time, but not twice in a row if somebody wants it. */
        private void hold() {
            Random own = new Random();

            for (;;) {
                synchronized (monitor) {
                    LockSupport.parkNanos(2_000_000 + own.nextInt(18_000_000));
                }
                LockSupport.parkNanos(1_000_000);
            }
        }

        private static void serve(String name, Socket socket) {
            launch(name, () -> {
                Random own = new Random();

                try {
                    InputStream in = socket.getInputStream();
                    OutputStream out = socket.getOutputStream();

                    for (int b = in.read(); b >= 0; b = in.read()) {
                        LockSupport.parkNanos(3_000_000 + own.nextInt(12_000_000));
                        out.write(b);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }

        @Override
        public void run() {
            for (;;) {
                int phase = phases[random.nextInt(phases.length)];

                clock.enter(phase);
                try {
                    step(phase);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        private void step(int phase) throws Exception {
            switch (phase) {
                case SLEEP:
                    sleepForAWhile();
                    break;
                case LOCK:
                    waitForTheLock();
                    break;
                case SOCKET:
                    waitForTheAnswer();
                    break;
                case DISK:
                    writeToDisk();
                    break;
                default:
                    runForAWhile();
            }
        }

        private void sleepForAWhile() throws Exception {
            Thread.sleep(5 + random.nextInt(20));
        }

        private void waitForTheLock() {
            synchronized (monitor) {
                sink++;
            }
        }

        private void waitForTheAnswer() throws Exception {
            socket.getOutputStream().write(1);
            sink += socket.getInputStream().read();
        }

        private void writeToDisk() throws Exception {
            for (int i = 0; i < 4; i++) {
                file.seek((long) random.nextInt(64) * block.length);
                file.write(block);
                file.getFD().sync();
            }
        }

        private void runForAWhile() {
            long end = System.nanoTime() + 5_000_000;

            while (System.nanoTime() < end) {
                sink++;
            }
        }
    }

    /** Runs all the time, and knows how long it was on a processor. */
    static final class Spinner extends Thread {
        private final ThreadMXBean beans = ManagementFactory.getThreadMXBean();
        private final long since = System.nanoTime();

        Spinner(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            for (;;) {
                sink++;
            }
        }

        String line() {
            long ran = beans.getThreadCpuTime(getId());

            return getName() + " " + ran + " " + (System.nanoTime() - since - ran);
        }
    }

    private Waits() {
    }

    static void launch(String name, Runnable task) {
        Thread thread = new Thread(task, name);

        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Worker[] workers = {
            new Worker("sleeper", server, SLEEP),
            new Worker("locker", server, LOCK),
            new Worker("reader", server, SOCKET),
            new Worker("writer", server, DISK),
            new Worker("mixed", server, SLEEP, LOCK, SOCKET, DISK, RUN),
        };
        Spinner[] spinners = new Spinner[args.length > 0 ? 2 : 0];

        for (Worker worker : workers) {
            worker.start();
        }
        for (int i = 0; i < spinners.length; i++) {
            spinners[i] = new Spinner("spinner-" + i);
            spinners[i].start();
        }
        System.out.println("ready");
        for (;;) {
            for (Worker worker : workers) {
                System.out.println(worker.clock.line(worker.getName()));
            }
            for (Spinner spinner : spinners) {
                System.out.println(spinner.line());
            }
            System.out.flush();
            Thread.sleep(250);
        }
    }
}
