// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that know how long they have waited for what. For each line of standard input there is a
 * line on standard output for each thread: its name, and the nanoseconds that it has spent in each
 * of the four phases since it began.
 */
final class Waits {
    static final int SLEEP = 0, LOCK = 1, SOCKET = 2, RUN = 3, PHASES = 4;
    static final String[] NAMES = {"sleep", "lock", "socket", "run"};
    static volatile long sink;

    /** Nanoseconds of each phase; the phase that is going on counts up to now. */
    static final class Clock {
        private final long[] spent = new long[PHASES];
        private int phase;
        private long since = System.nanoTime();

        synchronized void enter(int next) {
            long now = System.nanoTime();

            spent[phase] += now - since;
            phase = next;
            since = now;
        }

        synchronized String line(String name) {
            enter(phase);
            return name + " " + spent[0] + " " + spent[1] + " " + spent[2] + " " + spent[3];
        }
    }

    /** Holds its monitor most of the time, and lets others in now and then. */
    static final class Holder extends Thread {
        final Object monitor = new Object();

        Holder() {
            super("holder");
        }

        @Override
        public void run() {
            for (;;) {
                synchronized (monitor) {
                    LockSupport.parkNanos(2_000_000 + ThreadLocalRandom.current().nextInt(20_000_000));
                }
                Thread.yield();
            }
        }
    }

    /** Answers each byte some milliseconds later. */
    static final class Answerer extends Thread {
        private final ServerSocket server;

        Answerer() throws Exception {
            super("answerer");
            server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        }

        Socket connect() throws Exception {
            return new Socket(server.getInetAddress(), server.getLocalPort());
        }

        @Override
        public void run() {
            for (;;) {
                try {
                    Socket socket = server.accept();
                    Thread thread = new Thread(() -> answer(socket), "answers");

                    thread.setDaemon(true);
                    thread.start();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        private static void answer(Socket socket) {
            try {
                InputStream in = socket.getInputStream();
                OutputStream out = socket.getOutputStream();

                for (int b = in.read(); b >= 0; b = in.read()) {
                    LockSupport.parkNanos(3_000_000 + ThreadLocalRandom.current().nextInt(12_000_000));
                    out.write(b);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Worker extends Thread {
        final Clock clock = new Clock();
        private final int[] phases;
        private final Holder holder;
        private final Socket socket;

        Worker(String name, Holder holder, Answerer answerer, int... phases) throws Exception {
            super(name);
            this.holder = holder;
            this.phases = phases;
            socket = answerer.connect();
            setDaemon(true);
        }

        @Override
        public void run() {
            for (;;) {
                int phase = phases[ThreadLocalRandom.current().nextInt(phases.length)];

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
                default:
                    runForAWhile();
            }
        }

        private void sleepForAWhile() throws Exception {
            Thread.sleep(5 + ThreadLocalRandom.current().nextInt(20));
        }

        private void waitForTheLock() {
            synchronized (holder.monitor) {
                sink++;
            }
        }

        private void waitForTheAnswer() throws Exception {
            socket.getOutputStream().write(1);
            sink += socket.getInputStream().read();
        }

        private void runForAWhile() {
            long end = System.nanoTime() + 4_000_000;

            while (System.nanoTime() < end) {
                sink++;
            }
        }
    }

    private Waits() {
    }

    public static void main(String[] args) throws Exception {
        Holder holder = new Holder();
        Answerer answerer = new Answerer();
        holder.setDaemon(true);
        answerer.setDaemon(true);
        holder.start();
        answerer.start();

        Worker[] workers = {
            new Worker("sleeper", holder, answerer, SLEEP),
            new Worker("locker", holder, answerer, LOCK),
            new Worker("reader", holder, answerer, SOCKET),
            new Worker("mixed", holder, answerer, SLEEP, LOCK, SOCKET, RUN, RUN),
        };

        for (Worker worker : workers) {
            worker.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            for (Worker worker : workers) {
                System.out.println(worker.clock.line(worker.getName()));
            }
            System.out.flush();
        }
    }
}
