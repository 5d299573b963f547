// SPDX-License-Identifier: Apache-2.0
/**
 * A thread that takes the name of what it does, in turn: all samples of a method are of one name.
 * It runs, or with "rests" it sleeps; with "given" it is given a name by another thread, of which
 * the kernel is not told.
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

    private static void firstRest() throws InterruptedException {
        Thread.sleep(70);
    }

    private static void secondRest() throws InterruptedException {
        Thread.sleep(70);
    }

    private static void rest() {
        try {
            while (true) {
                Thread.currentThread().setName("does \uD83D\uDE00 1");
                firstRest();
                Thread.currentThread().setName("does \uD83D\uDE00 2");
                secondRest();
            }
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }

    private static void work() {
        while (true) {
            Thread.currentThread().setName("does \uD83D\uDE00 1");
            first(System.nanoTime() + 50_000_000L);
            Thread.currentThread().setName("does \uD83D\uDE00 2");
            second(System.nanoTime() + 50_000_000L);
        }
    }

    private static Thread taken(Runnable what) {
        Thread worker = new Thread(what);

        worker.start();
        return worker;
    }

    public static void main(String[] args) throws InterruptedException {
        String how = args.length > 0 ? args[0] : "";
        Thread worker = how.equals("given") ? given()
            : taken(how.equals("rests") ? Renamed::rest : Renamed::work);

        System.out.println("ready");
        worker.join();
    }
}
