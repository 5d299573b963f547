// SPDX-License-Identifier: Apache-2.0
/**
 * A thread that C has made and attached by JNI, with a name that the kernel is not told: it works
 * and rests in turn. Usage: java Attached LIBRARY, which is made of tests/e2e/attached_thread.c.
 */
public final class Attached {
    private static volatile long sink;

    /** Starts the thread, which calls turns() and never returns. */
    private static native void start(String name);

    private static void work(long untilNanos) {
        while (System.nanoTime() < untilNanos) {
            sink += 1;
        }
    }

    private static void turns() throws InterruptedException {
        while (true) {
            work(System.nanoTime() + 30_000_000L);
            Thread.sleep(30);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        System.load(args[0]);
        start("attached \uD83D\uDE00 by a library");
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
