// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread that waits for 50 ms, 1 ms and 0.3 ms, and knows for how long it was blocked each time.
 *
 * <p>The thread "mixed" spends a third of its time in each of sleep, lock and socket. Four times a
 * second there is a line with its name and the nanoseconds that it was blocked in each since it
 * began: by its clock, less what the kernel says that it ran, or waited for a processor.
 */
final class ShortWaits {
    static final int SLEEP = 0, LOCK = 1, SOCKET = 2, PHASES = 3;
    static volatile long sink;

    private final long[] blocked = new long[PHASES];
    private final Random random = new Random();
    private final Socket socket;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean isHeld;
    private RandomAccessFile schedstat;
    private final byte[] text = new byte[128];

    private ShortWaits() throws Exception {
        ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());

        socket = new Socket(server.getInetAddress(), server.getLocalPort());
        socket.setTcpNoDelay(true);
        serve(server.accept());
        launch("holder", this::hold);
    }

    private static void launch(String name, Runnable task) {
        Thread thread = new Thread(task, name);

        thread.setDaemon(true);
        thread.start();
    }

    /** Takes the lock for a millisecond, whenever it is asked to. */
    private void hold() {
        for (;;) {
            while (isHeld) {
                LockSupport.park();
            }
            lock.lock();
            isHeld = true;
            LockSupport.parkNanos(1_000_000);
            lock.unlock();
        }
    }

    private static void serve(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        launch("answers", () -> {
            try {
                InputStream in = socket.getInputStream();
                OutputStream out = socket.getOutputStream();

                for (int b = in.read(); b >= 0; b = in.read()) {
                    LockSupport.parkNanos(300_000);
                    out.write(b);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** What the thread has run, or waited for a processor. */
    private long notBlocked() throws IOException {
        schedstat.seek(0);
        int length = schedstat.read(text);
        String[] words = new String(text, 0, length, "US-ASCII").split(" ");

        return Long.parseLong(words[0]) + Long.parseLong(words[1]);
    }

    private void sleepForLong() throws Exception {
        Thread.sleep(50);
    }

    private void waitForTheLock() {
        lock.lock();
        sink++;
        lock.unlock();
    }

    private void waitForTheAnswer() throws Exception {
        socket.getOutputStream().write(1);
        sink += socket.getInputStream().read();
    }

    private void step(int phase) throws Exception {
        if (phase == SLEEP) {
            sleepForLong();
        } else if (phase == LOCK) {
            waitForTheLock();
        } else {
            waitForTheAnswer();
        }
    }

    private static Thread find(String name) {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals(name)) {
                return thread;
            }
        }
        throw new IllegalStateException(name);
    }

    /** The phase that was blocked least: so each has a third of the time, in an order by chance. */
    private int next() {
        int first = random.nextInt(PHASES);

        for (int i = 0; i < PHASES; i++) {
            if (blocked[(first + i) % PHASES] < blocked[first]) {
                first = (first + i) % PHASES;
            }
        }
        return first;
    }

    private void mix() {
        try {
            Thread holder = find("holder");

            schedstat = new RandomAccessFile("/proc/self/task/"
                    + Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName()
                    + "/schedstat", "r");
            for (;;) {
                int phase = next();

                if (phase == LOCK) {
                    isHeld = false;
                    LockSupport.unpark(holder);
                    while (!isHeld) {
                        Thread.yield();
                    }
                }
                long other = notBlocked(), since = System.nanoTime();

                step(phase);
                long took = System.nanoTime() - since;

                synchronized (blocked) {
                    blocked[phase] += Math.max(0, took - (notBlocked() - other));
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private String line() {
        synchronized (blocked) {
            return "mixed " + blocked[SLEEP] + " " + blocked[LOCK] + " " + blocked[SOCKET];
        }
    }

    public static void main(String[] args) throws Exception {
        ShortWaits waits = new ShortWaits();

        launch("mixed", waits::mix);
        System.out.println("ready");
        for (;;) {
            System.out.println(waits.line());
            System.out.flush();
            Thread.sleep(250);
        }
    }
}
