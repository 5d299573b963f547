// SPDX-License-Identifier: Apache-2.0

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A servlet whose paths each spend their time in one way, in a method of its own: sleep, lock,
 * socket, disk and run, named as in Waits.java. The lock is one for all requests, and held by them.
 */
public final class Phases extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final Object MONITOR = new Object();
    private static volatile long sink;

    private final transient ConcurrentLinkedQueue<Means> free = new ConcurrentLinkedQueue<>();
    private transient ServerSocket server;

    /** What one request at a time waits with. */
    private static final class Means {
        final byte[] block = new byte[256 << 10];
        final Socket socket;
        final RandomAccessFile file;

        Means(ServerSocket server) throws IOException {
            socket = new Socket(server.getInetAddress(), server.getLocalPort());
            file = new RandomAccessFile(File.createTempFile("phases", ".bin"), "rw");
        }
    }

    @Override
    public void init() throws ServletException {
        try {
            server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new ServletException(e);
        }
        launch("accepts", this::accept);
    }

    private static void launch(String name, Runnable task) {
        Thread thread = new Thread(task, name);

        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            for (;;) {
                Socket socket = server.accept();

                launch("answers", () -> answer(socket));
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void answer(Socket socket) {
        try {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();

            for (int b = in.read(); b >= 0; b = in.read()) {
                LockSupport.parkNanos(between(3, 15));
                out.write(b);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Some time between so many milliseconds, in nanoseconds. */
    private static long between(int least, int most) {
        return ThreadLocalRandom.current().nextLong(least * 1_000_000L, most * 1_000_000L);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
        Means means = free.poll();

        if (means == null) {
            means = new Means(server);
        }
        switch (request.getPathInfo()) {
            case "/sleep":
                sleepForAWhile();
                break;
            case "/lock":
                waitForTheLock();
                break;
            case "/socket":
                waitForTheAnswer(means.socket);
                break;
            case "/disk":
                writeToDisk(means);
                break;
            default:
                runForAWhile();
        }
        free.add(means);
        response.getWriter().println("done");
    }

    private static void sleepForAWhile() throws ServletException {
        try {
            Thread.sleep(between(5, 25) / 1_000_000);
        } catch (InterruptedException e) {
            throw new ServletException(e);
        }
    }

    private static void waitForTheLock() {
        synchronized (MONITOR) {
            LockSupport.parkNanos(between(2, 10));
        }
    }

    private static void waitForTheAnswer(Socket socket) throws IOException {
        socket.getOutputStream().write(1);
        sink = socket.getInputStream().read();
    }

    private static void writeToDisk(Means means) throws IOException {
        means.file.seek(ThreadLocalRandom.current().nextInt(64) * (long) means.block.length);
        means.file.write(means.block);
        means.file.getFD().sync();
    }

    private static void runForAWhile() {
        long end = System.nanoTime() + 3_000_000;

        while (System.nanoTime() < end) {
            sink++;
        }
    }
}
