// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.ReentrantLock;

/**
 * Does one thing as often as it can: "alloc" makes small objects, "work" makes arrays of 1 KiB and
 * fills them, some 1 GB/s, "lock" takes a monitor that is free, "reentrant" such a ReentrantLock,
 * "throw" throws in code that is inlined, "deep" through eight frames, "create" makes, throws and
 * catches an exception with a stack trace.
 *
 * <p>Four times a second there is a line: picoseconds of one time, of the last quarter of a second.
 */
public final class ProbeCosts {
    static final int TIMES = 10_000;
    static volatile Object sink;
    static int locked;
    static final Object LOCK = new Object();
    static final ReentrantLock REENTRANT = new ReentrantLock();
    static final Exception THROWN = new Exception();

    static void allocate() {
        for (int i = 0; i < TIMES; i++) {
            sink = new long[6]; // 64 bytes
        }
    }

    static void work() {
        for (int i = 0; i < TIMES / 10; i++) {
            long[] filled = new long[126]; // 1 KiB
            long x = i;

            for (int at = 0; at < filled.length; at++) {
                x = (x ^ x >>> 29) * 6364136223846793005L + at;
                x = (x ^ x >>> 29) * 6364136223846793005L + at;
                filled[at] = x;
            }
            sink = filled;
        }
    }

    static void reentrant() {
        for (int i = 0; i < TIMES; i++) {
            REENTRANT.lock();
            try {
                locked++;
            } finally {
                REENTRANT.unlock();
            }
        }
    }

    static void create() {
        for (int i = 0; i < TIMES / 100; i++) {
            try {
                throw new Exception();
            } catch (Exception e) {
                sink = e;
            }
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
            case "work": work(); return TIMES / 10;
            case "lock": lock(); return TIMES;
            case "reentrant": reentrant(); return TIMES;
            case "throw": throwInlined(); return TIMES;
            case "create": create(); return TIMES / 100;
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
