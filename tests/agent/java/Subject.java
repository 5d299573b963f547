// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;

/**
 * A JVM that does what the lines on its standard input say, and answers each with one line.
 *
 *   hot            run Subject.hotMethod until it is surely compiled
 *   churn N        load a class in a loader of its own, run it until it is compiled, drop it; N times
 *   flag NAME      the VM flag's value and origin
 *   threads N NAME start N daemon threads of that name and a number, which wait
 *   exit N         System.exit(N); "halt N" Runtime.halt(N)
 *   take WHAT      close what the agent has open, and open "files" or "sockets" in its place
 *   taken          how many bytes have got into them, and how many do not work any more
 *
 * The end of the input ends main.
 */
public class Subject {
    public static volatile long sink;

    static long hotMethod(long seed) {
        long value = seed;
        for (int i = 0; i < 50; i++) {
            value = value * 31 + i;
        }
        return value;
    }

    static void runHot() {
        for (int i = 0; i < 300_000; i++) {
            sink += hotMethod(i);
        }
    }

    /** Loaded again and again by loaders that know nothing else. */
    public static class Churned implements Runnable {
        static long churnedMethod(long value) {
            return value * 17 + 3;
        }

        @Override
        public void run() {
            long value = 1;
            for (int i = 0; i < 20_000; i++) {
                value = churnedMethod(value);
            }
            sink += value;
        }
    }

    static class ChurnLoader extends ClassLoader {
        ChurnLoader() {
            super(Subject.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Subject$Churned", bytes, 0, bytes.length);
        }
    }

    static byte[] churnedBytes() throws Exception {
        try (InputStream in = Subject.class.getResourceAsStream("Subject$Churned.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return out.toByteArray();
        }
    }

    static void churn(int times) throws Exception {
        byte[] bytes = churnedBytes();
        for (int i = 0; i < times; i++) {
            Object churned = new ChurnLoader().define(bytes).getDeclaredConstructor().newInstance();
            for (int j = 0; j < 5; j++) {
                ((Runnable) churned).run();
            }
            if (i % 10 == 9) {
                System.gc();
            }
        }
        System.gc();
    }

    static String flag(String name) {
        Object option = ManagementFactory.getPlatformMXBean(
                com.sun.management.HotSpotDiagnosticMXBean.class).getVMOption(name);
        return ((com.sun.management.VMOption) option).getValue() + " "
                + ((com.sun.management.VMOption) option).getOrigin();
    }

    static void startThreads(int n, String name) {
        for (int i = 0; i < n; i++) {
            Thread thread = new Thread(() -> {
                synchronized (Subject.class) {
                    try {
                        Subject.class.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }, name + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    static String obey(String[] words) throws Exception {
        switch (words[0]) {
        case "hot":
            runHot();
            return "ok";
        case "churn":
            churn(Integer.parseInt(words[1]));
            return "ok";
        case "flag":
            return flag(words[1]);
        case "threads":
            startThreads(Integer.parseInt(words[1]), words[2]);
            return "ok";
        case "take":
            return Taken.take(words[1]);
        case "taken":
            return Taken.look();
        case "exit":
            System.exit(Integer.parseInt(words[1]));
            return "";
        case "halt":
            Runtime.getRuntime().halt(Integer.parseInt(words[1]));
            return "";
        default:
            return "what?";
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(obey(line.split(" ")));
        }
    }
}
