// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Knows what it keeps of what it allocates: of the bytes kept 50 % are byte[], 30 % long[] and 20 %
 * objects of 64 bytes, and of each 50 % are allocated by first(), 30 % by second() and 20 % by
 * third(). Beside each kept object others are dropped, of the same classes and of one of its own.
 *
 * <p>Arguments: keep=100 so many MB are kept in a turn; drop=4 so many bytes are dropped for each
 * that is kept; bytes=1024 the size of arrays; mb=100 so many MB/s at most. A turn drops what the turns before have kept, and has
 * the JVM collect garbage at its end. Rows of kind "live" are what is kept, those of kind "dropped"
 * what is not.
 */
public final class LiveTruth {
    static final int[] PARTS = {5, 3, 2};
    static final String[] SITES = {"first", "second", "third"};
    static final String[] TYPES = {"byte[]", "long[]", "LiveTruth$Node"};
    static final int HEADER_BYTES = 16, NODE_BYTES = 64, BATCH_BYTES = 64 << 10;
    static List<Object> kept = new ArrayList<>();
    static volatile Object sink;

    static final class Node {
        long a, b, c, d, e, f;
    }

    static final class Dropped {
        long a, b, c, d, e, f;
    }

    static Object first(int type, int bytes) {
        switch (type) {
            case 0: return new byte[bytes - HEADER_BYTES];
            case 1: return new long[(bytes - HEADER_BYTES) / 8];
            default: return new Node();
        }
    }

    static Object second(int type, int bytes) {
        switch (type) {
            case 0: return new byte[bytes - HEADER_BYTES];
            case 1: return new long[(bytes - HEADER_BYTES) / 8];
            default: return new Node();
        }
    }

    static Object third(int type, int bytes) {
        switch (type) {
            case 0: return new byte[bytes - HEADER_BYTES];
            case 1: return new long[(bytes - HEADER_BYTES) / 8];
            default: return new Node();
        }
    }

    static Object allocate(int type, int site, int bytes) {
        switch (site) {
            case 0: return first(type, bytes);
            case 1: return second(type, bytes);
            default: return third(type, bytes);
        }
    }

    static void drop(long bytes) {
        for (long i = 0; i < bytes; i += NODE_BYTES) {
            sink = new Dropped();
        }
        sink = null;
    }

    static int size(int type, int bytes) {
        return type == 2 ? NODE_BYTES : bytes;
    }

    /** Waits until so many bytes may have been allocated. */
    static void hold(long begin, long bytes, long bytesPerSec) {
        while (bytes > (System.nanoTime() - begin) / 1e9 * bytesPerSec) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    static void work(long keepBytes, long dropFactor, int bytes, long rate, Turns truth) {
        long begin = System.nanoTime();
        long[] objects = new long[TYPES.length * SITES.length];
        long dropped = 0;
        long all = 0;

        kept = new ArrayList<>();
        while (all < keepBytes) {
            for (int i = 0; i < objects.length; i++) {
                int type = i / SITES.length, site = i % SITES.length;
                int size = size(type, bytes);
                long n = (long) PARTS[type] * PARTS[site] * BATCH_BYTES / 100 / size;
                Object[] batch = new Object[(int) n];

                for (int j = 0; j < n; j++) {
                    batch[j] = allocate(type, site, bytes);
                    sink = allocate(type, 2 - site, bytes);
                }
                kept.add(batch);
                objects[i] += n;
                all += n * size;
                drop((dropFactor - 1) * n * size);
                dropped += (dropFactor - 1) * n * size;
                hold(begin, all * (dropFactor + 1), rate);
            }
        }
        sink = null;
        for (int i = 0; i < objects.length; i++) {
            int type = i / SITES.length;
            truth.add("live", TYPES[type], "LiveTruth." + SITES[i % SITES.length], objects[i],
                      objects[i] * size(type, bytes));
        }
        truth.add("dropped", "LiveTruth$Dropped", "LiveTruth.drop", dropped / NODE_BYTES, dropped);
        System.gc();
        System.gc();
    }

    public static void main(String[] args) throws Exception {
        long keep = Long.parseLong(Turns.option(args, "keep", "100")) << 20;
        long drop = Long.parseLong(Turns.option(args, "drop", "4"));
        int bytes = Integer.parseInt(Turns.option(args, "bytes", "1024"));

        long rate = Long.parseLong(Turns.option(args, "mb", "100")) * 1_000_000;

        work(keep / 4, drop, bytes, rate, new Turns());
        Turns.serve(turn -> work(keep, drop, bytes, rate, turn));
    }
}
