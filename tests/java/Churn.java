// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongUnaryOperator;

/**
 * Code that comes and goes: the same compiled class is defined again and again under loaders of
 * their own, run until it is compiled, and dropped, as script engines and query planners do.
 *
 * Usage: Churn [SECONDS [MS_EACH [IDLE_SECONDS [REST_MS]]]]; SECONDS 0 (the default) runs until it
 * is killed. After SECONDS it says "idle" and sleeps for IDLE_SECONDS, compiling nothing new. After
 * each class it rests for REST_MS.
 */
public final class Churn {
    /** What every generation defines anew. */
    public static final class Work implements LongUnaryOperator {
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
            super(Churn.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Churn$Work", bytes, 0, bytes.length);
        }
    }

    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 0;
        long eachNs = (args.length > 1 ? Long.parseLong(args[1]) : 50) * 1_000_000;
        long idleMs = (long) ((args.length > 2 ? Double.parseDouble(args[2]) : 0) * 1000);
        long restMs = args.length > 3 ? Long.parseLong(args[3]) : 0;
        byte[] bytes = readWork();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        int generations = 0;

        System.out.println("ready");
        System.out.flush();
        while (seconds == 0 || System.nanoTime() < end) {
            LongUnaryOperator work = (LongUnaryOperator) new Loader()
                                         .define(bytes)
                                         .getDeclaredConstructor()
                                         .newInstance();
            long stop = System.nanoTime() + eachNs;
            while (System.nanoTime() < stop)
                sink += work.applyAsLong(20_000);
            if (++generations % 20 == 0)
                System.gc();
            Thread.sleep(restMs);
        }
        System.out.println("idle after " + generations + " generations");
        System.out.flush();
        Thread.sleep(idleMs);
    }

    private static byte[] readWork() throws IOException {
        try (InputStream in = Churn.class.getResourceAsStream("Churn$Work.class")) {
            return in.readAllBytes();
        }
    }
}
