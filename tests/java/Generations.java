// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.function.LongUnaryOperator;

/**
 * Generation after generation of one method at the same addresses, each under a name of its own:
 * the class Gen0000 is renamed to Gen0001, Gen0002 ..., defined by a loader of its own, run, and
 * dropped. Every fourth is followed by a collection, so that code goes and addresses are reused.
 *
 * Each generation runs in a thread of its own called gen-0001 ..., and the kernel puts that name
 * beside every sample: whose sample it is is known without any map of code. The program says when
 * each ran, in CLOCK_MONOTONIC nanoseconds, and how much CPU time its method had.
 *
 * Usage: Generations [GENERATIONS [MS_EACH [DELAY_SECONDS]]]; the delay is between "ready" and the
 * first of them.
 */
public final class Generations {
    /** What every generation defines anew, under a name as long. */
    public static final class Gen0000 implements LongUnaryOperator {
        @Override
        public long applyAsLong(long rounds) {
            long x = rounds | 1;
            for (long i = 0; i < rounds; i++)
                x = mix(x + i);
            return x;
        }

        static long mix(long x) {
            x ^= x >>> 33;
            x *= 0xff51afd7ed558ccdL;
            return x ^ x >>> 29;
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Generations.class.getClassLoader());
        }

        LongUnaryOperator make(byte[] bytes) throws ReflectiveOperationException {
            return (LongUnaryOperator) defineClass(null, bytes, 0, bytes.length)
                .getDeclaredConstructor()
                .newInstance();
        }
    }

    /** Some milliseconds, so that next to nothing of a thread's time is its loop's. */
    private static final long ROUNDS = 4_000_000;
    /** Calls so short that their number has the method compiled before its loop takes time. */
    private static final int WARM_UP = 2000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int generations = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        long eachNs = (args.length > 1 ? Long.parseLong(args[1]) : 150) * 1_000_000;
        double delay = args.length > 2 ? Double.parseDouble(args[2]) : 0;
        String template = readTemplate();
        StringBuilder truth = new StringBuilder();

        THREADS.getCurrentThreadCpuTime();
        System.out.println("ready");
        System.out.flush();
        Thread.sleep((long) (delay * 1000));
        for (int number = 1; number <= generations; number++) {
            truth.append(runOne(number, template, eachNs));
            if (number % 4 == 0)
                System.gc();
        }
        System.out.print(truth);
        System.out.flush();
    }

    /** Returns its line of the truth: "generation 0001 START_NS END_NS CPU_NS". */
    private static String runOne(int number, String template, long eachNs) throws Exception {
        String digits = String.format("%04d", number);
        byte[] bytes =
            template.replace("Gen0000", "Gen" + digits).getBytes(StandardCharsets.ISO_8859_1);
        LongUnaryOperator work = new Loader().make(bytes);
        long[] times = new long[3];
        Thread thread = new Thread(() -> runFor(work, eachNs, times), "gen-" + digits);

        thread.start();
        thread.join();
        return "generation " + digits + " " + times[0] + " " + times[1] + " " + times[2] + "\n";
    }

    /** Into times: when it began, when it ended, the CPU time of the calls. */
    private static void runFor(LongUnaryOperator work, long eachNs, long[] times) {
        long begin = THREADS.getCurrentThreadCpuTime();
        long now = begin;

        times[0] = System.nanoTime();
        for (int i = 0; i < WARM_UP; i++)
            sink += work.applyAsLong(20);
        while (now < begin + eachNs) {
            sink += work.applyAsLong(ROUNDS);
            now = THREADS.getCurrentThreadCpuTime();
        }
        times[1] = System.nanoTime();
        times[2] = now - begin;
    }

    /** The class's bytes, one char each: a name in it is replaced by one as long. */
    private static String readTemplate() throws IOException {
        try (InputStream in = Generations.class.getResourceAsStream("Generations$Gen0000.class")) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }
}
