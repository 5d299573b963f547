// SPDX-License-Identifier: Apache-2.0
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends in a way, and at a time, that the argument names: the status is 3 for System.exit and 4 for
 * Runtime.halt. "full SECONDS" uses up all descriptors for so long instead, and then goes on.
 */
public final class Exits {
    /** Ends before main begins. */
    static final class Early {
        static {
            if (how.equals("init-exit")) {
                System.exit(3);
            }
            if (how.equals("init-halt")) {
                Runtime.getRuntime().halt(4);
            }
            if (how.equals("init-throw")) {
                throw new IllegalStateException("in a static initializer");
            }
            if (how.equals("init-overflow")) {
                dive(0);
            }
        }

        static void begin() {
        }

        static int dive(int depth) {
            return dive(depth + 1) + 1;
        }
    }

    /** Defined anew by a loader of its own each time. */
    public static final class Work implements Runnable {
        static long sum;

        @Override
        public void run() {
            for (int i = 0; i < 20_000; i++) {
                sum += mix(i);
            }
        }

        static long mix(long value) {
            return value * 31 ^ value >>> 7;
        }
    }

    private static String how = "";

    private Exits() {
    }

    /** Loads and compiles classes until the JVM ends. */
    private static void loadClasses() {
        try {
            byte[] bytes;
            try (var in = Exits.class.getResourceAsStream("Exits$Work.class")) {
                bytes = in.readAllBytes();
            }
            while (true) {
                Class<?> work = new ClassLoader(Exits.class.getClassLoader()) {
                    Class<?> define() {
                        return defineClass("Exits$Work", bytes, 0, bytes.length);
                    }
                }.define();
                ((Runnable) work.getDeclaredConstructor().newInstance()).run();
            }
        } catch (IOException | ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private static void takeAll(List<Closeable> open) {
        try {
            while (true) {
                open.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            // There are no more.
        }
    }

    private static void fill(int seconds) throws Exception {
        List<Closeable> open = new ArrayList<>();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        takeAll(open);
        System.out.println("full");
        // Whatever others close meanwhile is taken too.
        while (System.nanoTime() < end) {
            Thread.sleep(1);
            takeAll(open);
        }
        for (Closeable one : open) {
            one.close();
        }
        System.out.println("free");
        loadClasses();
    }

    public static void main(String[] args) throws Exception {
        how = args[0];
        Early.begin();
        int delay = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        switch (how) {
        case "full":
            fill(delay);
            break;
        case "throw":
            throw new IllegalStateException("in main");
        case "loading-exit":
        case "loading-halt":
        case "hook":
        case "kill":
            for (int i = 0; i < 3; i++) {
                start(Exits::loadClasses);
            }
            Thread.sleep(delay);
            break;
        case "crowd":
            for (int i = 0; i < 8; i++) {
                start(() -> System.exit(3));
            }
            Thread.sleep(10_000);
            break;
        default:
            break;
        }
        if (how.equals("hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(4)));
        }
        if (how.equals("kill")) {
            new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start();
            Thread.sleep(10_000);
        }
        if (how.endsWith("halt")) {
            Runtime.getRuntime().halt(4);
        }
        System.exit(3);
    }
}
