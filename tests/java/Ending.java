// SPDX-License-Identifier: Apache-2.0
/**
 * SIGTERM ends a program's work early, and not the program in the midst of it: what it says at its
 * end it still says.
 */
final class Ending {
    private static volatile boolean asked;

    private Ending() {}

    /** From now on SIGTERM sets isAsked(), and the JVM goes on until the caller's thread has ended. */
    static void expect() {
        Thread worker = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            asked = true;
            try {
                worker.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    static boolean isAsked() {
        return asked;
    }
}
