// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;

/**
 * Stacks that are taken apart: exceptions thrown through compiled frames 30 %, through inlined ones
 * 25 %, through frames that are interpreted if -XX:CompileCommand=exclude,Exceptions$Excluded.* is
 * given 25 %, and 20 % compiled code that becomes invalid again and again, because a class is
 * loaded that it was compiled without; each in the run() of its class.
 *
 * Usage: Exceptions [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Exceptions {
    private static volatile Object sink;

    public static void main(String[] args) throws IOException {
        Shares shares = new Shares(
            new String[] {"compiled", "inlined", "interpreted", "invalidated"},
            new double[] {0.3, 0.25, 0.25, 0.2},
            new Shares.Phase[] {new Compiled(), new InlinedOnes(), new Excluded(),
                                new Invalidated()});
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    static final class Thrown extends Exception {
        private static final long serialVersionUID = 1;

        Thrown(String message) {
            super(message);
        }
    }

    /** Twenty frames, too large and too recursive to be inlined into one. */
    static final class Compiled implements Shares.Phase {
        @Override
        public void run() {
            for (int i = 0; i < 200; i++) {
                try {
                    sink = descend(20, i);
                } catch (Thrown e) {
                    sink = e.getStackTrace().length;
                }
            }
        }

        private static int descend(int depth, int i) throws Thrown {
            if (depth == 0)
                throw new Thrown("at the bottom");
            try {
                return descend(depth - 1, i) + 1;
            } finally {
                sink = i;
            }
        }
    }

    /** Thrown and caught within what the compiler makes one piece of code. */
    static final class InlinedOnes implements Shares.Phase {
        @Override
        public void run() {
            int caught = 0;
            for (int i = 0; i < 3000; i++) {
                try {
                    caught += outer(i);
                } catch (Thrown e) {
                    caught++;
                }
            }
            sink = caught;
        }

        private static int outer(int i) throws Thrown {
            return inner(i) + 1;
        }

        private static int inner(int i) throws Thrown {
            if (i % 3 != 0)
                throw new Thrown("inlined");
            return i;
        }
    }

    static final class Excluded implements Shares.Phase {
        @Override
        public void run() {
            for (int i = 0; i < 200; i++) {
                try {
                    sink = descend(10, i);
                } catch (Thrown e) {
                    sink = e;
                }
            }
        }

        private static int descend(int depth, int i) throws Thrown {
            if (depth == 0)
                throw new Thrown("interpreted");
            return descend(depth - 1, i) + 1;
        }
    }

    /** A loader has shapes of its own: code for the first one holds until the second is loaded. */
    static final class Invalidated implements Shares.Phase {
        private static final String[] NAMES = {"Shape", "Round", "Square", "Sum"};
        private final Map<String, byte[]> classes = new TreeMap<>();
        private Loader loader;
        private int turn;

        Invalidated() throws IOException {
            for (String name : NAMES) {
                String full = "Exceptions$" + name;
                try (InputStream in = Exceptions.class.getResourceAsStream(full + ".class")) {
                    classes.put(full, in.readAllBytes());
                }
            }
        }

        @Override
        public void run() {
            try {
                if (turn % 8 == 0)
                    loader = new Loader(classes);
                // Half of the turns with one class that is known, then with two.
                String shape = turn % 8 < 4 ? "Exceptions$Round" : "Exceptions$Square";
                Object instance = loader.loadClass(shape).getDeclaredConstructor().newInstance();
                java.util.function.ToLongFunction<Object> sum = sum(loader);
                long all = 0;
                for (int i = 0; i < 100; i++)
                    all += sum.applyAsLong(instance);
                sink = all;
                turn++;
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        @SuppressWarnings("unchecked")
        private static java.util.function.ToLongFunction<Object> sum(Loader loader)
            throws ReflectiveOperationException {
            return (java.util.function.ToLongFunction<Object>) loader.loadClass("Exceptions$Sum")
                .getDeclaredConstructor()
                .newInstance();
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Exceptions.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            byte[] bytes = classes.get(name);
            if (bytes == null)
                return super.loadClass(name, resolve);
            Class<?> known = findLoadedClass(name);
            return known != null ? known : defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** What every loader defines anew. */
    public abstract static class Shape {
        public abstract long area(long side);
    }

    public static final class Round extends Shape {
        @Override
        public long area(long side) {
            return side * side * 3;
        }
    }

    public static final class Square extends Shape {
        @Override
        public long area(long side) {
            return side * side;
        }
    }

    public static final class Sum implements java.util.function.ToLongFunction<Object> {
        @Override
        public long applyAsLong(Object object) {
            Shape shape = (Shape) object;
            long sum = 0;
            for (long i = 0; i < 5000; i++)
                sum ^= shape.area(sum + i);
            return sum;
        }
    }
}
