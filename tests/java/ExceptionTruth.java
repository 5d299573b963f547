// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * Knows which exceptions it makes, and where: 50 % IllegalStateException, 20 % of a class of its
 * own, 10 % each that the JVM makes for null and for an index, 10 % Throwable that nobody throws.
 *
 * <p>Beside ten of these there are three without a stack trace of this time: one made without, one
 * made before, and one that HotSpot keeps for code that throws too often. Arguments: seconds=6, the
 * length of a turn; rate=2000 exceptions a second. Rows are of the kind "exceptions", and "silent"
 * for those three.
 */
public final class ExceptionTruth {
    static final int OF_A_ROUND = 10, WARM_UP = 300_000;
    static final IllegalStateException KEPT = new IllegalStateException("made before");
    static volatile Object sink;
    static volatile Object nothing;
    static final int[] NUMBERS = new int[4];

    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    static final class Stackless extends RuntimeException {
        private static final long serialVersionUID = 1;

        Stackless() {
            super("no stack trace", null, false, false);
        }
    }

    interface Step {
        void run() throws Exception;
    }

    /** What one method throws, and how often it has had a stack trace. */
    static final class Site {
        final String name, type;
        final Step step;
        long traced, silent;

        Site(String name, String type, Step step) {
            this.name = name;
            this.type = type;
            this.step = step;
        }

        void run() {
            try {
                step.run();
                traced++;
            } catch (Exception e) {
                if (e == KEPT || e.getStackTrace().length == 0) {
                    silent++;
                } else {
                    traced++;
                }
            }
        }

        void tell(Turns truth) {
            if (traced > 0) {
                truth.add("exceptions", type, "ExceptionTruth." + name, traced, 0);
            }
            if (silent > 0) {
                truth.add("silent", type, "ExceptionTruth." + name, silent, 0);
            }
            traced = silent = 0;
        }
    }

    static void throwState() {
        throw new IllegalStateException("half of all");
    }

    static void refuse() throws Refused {
        throw new Refused("by a class of this program");
    }

    static void dereference() {
        sink = nothing.getClass();
    }

    static void index() {
        sink = NUMBERS[NUMBERS.length];
    }

    static void lookAround() {
        sink = new Throwable("where am I");
    }

    static void throwStackless() {
        throw new Stackless();
    }

    static void throwKept() {
        throw KEPT;
    }

    /** Hot: HotSpot throws an exception that it made before. */
    static void dereferenceOften() {
        sink = nothing.hashCode();
    }

    static final Site[] SITES = {
        new Site("throwState", "java.lang.IllegalStateException", ExceptionTruth::throwState),
        new Site("refuse", "ExceptionTruth$Refused", ExceptionTruth::refuse),
        new Site("dereference", "java.lang.NullPointerException", ExceptionTruth::dereference),
        new Site("index", "java.lang.ArrayIndexOutOfBoundsException", ExceptionTruth::index),
        new Site("lookAround", "java.lang.Throwable", ExceptionTruth::lookAround),
        new Site("throwStackless", "ExceptionTruth$Stackless", ExceptionTruth::throwStackless),
        new Site("throwKept", "java.lang.IllegalStateException", ExceptionTruth::throwKept),
        new Site("dereferenceOften", "java.lang.NullPointerException",
                 ExceptionTruth::dereferenceOften),
    };
    static final int[] TIMES = {5, 2, 1, 1, 1, 1, 1, 1};

    static void round() {
        for (int i = 0; i < SITES.length; i++) {
            for (int n = 0; n < TIMES[i]; n++) {
                SITES[i].run();
            }
        }
    }

    static void work(long ns, double roundsPerSec, Turns truth) {
        long begin = System.nanoTime(), rounds = 0;

        for (long now = begin; now - begin < ns; now = System.nanoTime()) {
            if (rounds > (now - begin) / 1e9 * roundsPerSec) {
                LockSupport.parkNanos(500_000);
                continue;
            }
            round();
            rounds++;
        }
        for (Site site : SITES) {
            site.tell(truth);
        }
    }

    public static void main(String[] args) throws Exception {
        long ns = (long) (Double.parseDouble(Turns.option(args, "seconds", "6")) * 1e9);
        double rate = Double.parseDouble(Turns.option(args, "rate", "2000")) / OF_A_ROUND;
        Site often = SITES[SITES.length - 1];

        for (int i = 0; i < WARM_UP; i++) {
            often.run();
        }
        often.tell(new Turns());
        Turns.serve(turn -> work(ns, rate, turn));
    }
}
