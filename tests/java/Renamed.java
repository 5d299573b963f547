// SPDX-License-Identifier: Apache-2.0
/**
 * A thread that takes the name of what it does, in turn: all samples of a method are of one name. With
 * an argument a thread that is given a name by another one, of which the kernel is not told.
 */
public final class Renamed {
    private static volatile long sink;

    private static void first(long untilNanos) {
        while (System.nanoTime() < untilNanos) {
            sink += 1;
        }
    }

    private static void second(long untilNanos) {
        while (System.nanoTime() < untilNanos) {
            sink += 2;
        }
    }

    private static Thread given() {
        Thread worker = new Thread(() -> first(Long.MAX_VALUE), "not yet given");

        worker.start();
        worker.setName("given \uD83D\uDE00 by another one");
        return worker;
    }

    private static Thread taken() {
        Thread worker = new Thread(() -> {
            while (true) {
                Thread.currentThread().setName("does \uD83D\uDE00 1");
                first(System.nanoTime() + 50_000_000L);
                Thread.currentThread().setName("does \uD83D\uDE00 2");
                second(System.nanoTime() + 50_000_000L);
            }
        });

        worker.start();
        return worker;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = args.length > 0 ? given() : taken();

        System.out.println("ready");
        worker.join();
    }
}
