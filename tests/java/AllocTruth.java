// SPDX-License-Identifier: Apache-2.0
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Knows what it allocates: 50 % of the bytes are byte[], 30 % long[] and 20 % objects of 64 bytes,
 * and of each 50 % is allocated by first(), 30 % by second() and 20 % by third().
 *
 * <p>Arguments: sizes=64,1024 the sizes of arrays, in bytes, each with the same part of the bytes;
 * mb=300 so many MB/s at most, 0 for as many as there can be; seconds=6 the length of a turn;
 * threads=1. Rows of kind "thread" have what the JVM has counted of the threads themselves.
 */
public final class AllocTruth {
    static final int[] PARTS = {5, 3, 2};
    static final String[] SITES = {"first", "second", "third"};
    static final String[] TYPES = {"byte[]", "long[]", "AllocTruth$Node"};
    static final int HEADER_BYTES = 16, BATCH_BYTES = 64 << 10, TABLE = 1 << 14;
    static final long WARM_UP_NS = 2_000_000_000L;
    static final ThreadMXBean BEANS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    static volatile Object sink;

    static final class Node {
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

    /** Objects of one type and size, allocated at one site. */
    static final class Cell {
        final int type, site, bytes, objectBytes, objects;

        Cell(int type, int site, int bytes) {
            this.type = type;
            this.site = site;
            this.bytes = bytes;
            objectBytes = (int) (measure(1) - measure(0));
            objects = Math.max(BATCH_BYTES, bytes) / objectBytes;
        }

        long batchBytes() {
            return (long) objects * objectBytes;
        }

        void allocate(int count) {
            for (int i = 0; i < count; i++) {
                switch (site) {
                    case 0: sink = first(type, bytes); break;
                    case 1: sink = second(type, bytes); break;
                    default: sink = third(type, bytes);
                }
            }
        }

        /** By the JVM's own count of so many objects, the least of some. */
        private long measure(int count) {
            long least = Long.MAX_VALUE;

            for (int i = 0; i < 20; i++) {
                long before = allocated();
                allocate(count);
                least = Math.min(least, allocated() - before);
            }
            return least;
        }
    }

    static long allocated() {
        return BEANS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    static final class Worker extends Thread {
        final long[] objects;
        long allocated;
        private final Cell[] cells;
        private final short[] table;
        private final long ns, bytesPerSec;

        Worker(Cell[] cells, short[] table, long ns, long bytesPerSec) {
            super("allocates");
            this.cells = cells;
            this.table = table;
            this.ns = ns;
            this.bytesPerSec = bytesPerSec;
            objects = new long[cells.length];
        }

        @Override
        public void run() {
            long begin = System.nanoTime(), before = allocated(), bytes = 0;
            int at = (int) begin;

            for (long now = begin; now - begin < ns; now = System.nanoTime()) {
                if (bytesPerSec > 0 && bytes > (now - begin) / 1e9 * bytesPerSec) {
                    LockSupport.parkNanos(1_000_000);
                    continue;
                }
                int number = table[at++ & (TABLE - 1)];
                Cell cell = cells[number];
                cell.allocate(cell.objects);
                objects[number] += cell.objects;
                bytes += cell.batchBytes();
            }
            allocated = allocated() - before;
        }
    }

    static Cell[] cells(String[] sizes) {
        Cell[] cells = new Cell[sizes.length * TYPES.length * SITES.length];

        for (int i = 0; i < cells.length; i++) {
            int kind = i % (TYPES.length * SITES.length);
            cells[i] = new Cell(kind / SITES.length, kind % SITES.length,
                                Integer.parseInt(sizes[i / (TYPES.length * SITES.length)]));
        }
        return cells;
    }

    /** Cells by chance, so that each has its part of the bytes. */
    static short[] table(Cell[] cells) {
        double[] upTo = new double[cells.length];
        short[] table = new short[TABLE];
        Random random = new Random(1);
        double sum = 0;

        for (int i = 0; i < cells.length; i++) {
            sum += (double) PARTS[cells[i].type] * PARTS[cells[i].site] / cells[i].batchBytes();
            upTo[i] = sum;
        }
        for (int i = 0; i < TABLE; i++) {
            double chosen = random.nextDouble() * sum;
            int number = 0;

            while (upTo[number] < chosen) {
                number++;
            }
            table[i] = (short) number;
        }
        return table;
    }

    static void work(Cell[] cells, short[] table, int threads, long ns, long rate, Turns truth)
        throws InterruptedException {
        Worker[] workers = new Worker[threads];

        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(cells, table, ns, rate / threads);
            workers[i].start();
        }
        for (Worker worker : workers) {
            worker.join();
            truth.add("thread", "", "", 0, worker.allocated);
        }
        for (int i = 0; i < cells.length; i++) {
            long objects = 0;

            for (Worker worker : workers) {
                objects += worker.objects[i];
            }
            truth.add("alloc", TYPES[cells[i].type], "AllocTruth." + SITES[cells[i].site], objects,
                      objects * cells[i].objectBytes);
        }
    }

    public static void main(String[] args) throws Exception {
        Cell[] cells = cells(Turns.option(args, "sizes", "64,1024,16384").split(","));
        short[] table = table(cells);
        long rate = Long.parseLong(Turns.option(args, "mb", "300")) * 1_000_000;
        long ns = (long) (Double.parseDouble(Turns.option(args, "seconds", "6")) * 1e9);
        int threads = Integer.parseInt(Turns.option(args, "threads", "1"));

        work(cells, table, threads, WARM_UP_NS, rate, new Turns());
        Turns.serve(turn -> work(cells, table, threads, ns, rate, turn));
    }
}
