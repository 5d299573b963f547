// SPDX-License-Identifier: Apache-2.0

/**
 * Does one thing as often as it can: "alloc" makes small objects, "lock" takes a lock that is free,
 * "throw" throws in code that is inlined, "deep" through eight frames.
 *
 * <p>Four times a second there is a line: picoseconds of one time, of the last quarter of a second.
 */
public final class ProbeCosts {
    static final int TIMES = 10_000;
    static volatile Object sink;
    static int locked;
    static final Object LOCK = new Object();
    static final Exception THROWN = new Exception();

    static void allocate() {
        for (int i = 0; i < TIMES; i++) {
            sink = new long[6]; // 64 bytes
        }
    }

    static void lock() {
        for (int i = 0; i < TIMES; i++) {
            synchronized (LOCK) {
                locked++;
            }
        }
    }

    static void check(int i) throws Exception {
        if (i >= 0) {
            throw THROWN;
        }
    }

    static void throwInlined() {
        for (int i = 0; i < TIMES; i++) {
            try {
                check(i);
            } catch (Exception e) {
                locked ^= i;
            }
        }
    }

    static int descend(int depth) throws Exception {
        return depth == 0 ? bottom() : descend(depth - 1) + 1;
    }

    static int bottom() throws Exception {
        throw THROWN;
    }

    static void throwDeep() {
        for (int i = 0; i < TIMES / 100; i++) {
            try {
                locked += descend(8);
            } catch (Exception e) {
                locked++;
            }
        }
    }

    static int round(String what) {
        switch (what) {
            case "alloc": allocate(); return TIMES;
            case "lock": lock(); return TIMES;
            case "throw": throwInlined(); return TIMES;
            default: throwDeep(); return TIMES / 100;
        }
    }

    public static void main(String[] args) {
        for (;;) {
            long begin = System.nanoTime(), end = begin, times = 0;

            while (end - begin < 250_000_000) {
                times += round(args[0]);
                end = System.nanoTime();
            }
            System.out.println((end - begin) * 1000 / times);
        }
    }
}
