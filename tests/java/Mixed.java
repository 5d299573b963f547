// SPDX-License-Identifier: Apache-2.0
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.Deflater;

/**
 * What servers do: maps and lists 30 %, regular expressions 20 %, streams 20 %, SHA-256 15 % and
 * zlib 15 % of the main thread's CPU time, each in the run() of its class.
 *
 * Usage: Mixed [SECONDS], 0 (the default) until it is killed; or Mixed --rounds N [WARMUP], the
 * same work in every run: prints "work CPU_NS WALL_NS" of the N rounds after WARMUP others.
 */
public final class Mixed {
    private static volatile Object sink;
    private static final Random RANDOM = new Random(42);
    private static final byte[] BYTES = new byte[1 << 20];
    private static final String LOG = makeLog();
    private static final Pattern LINE =
        Pattern.compile("(\\w+)\\s+\\[(\\d+)\\]\\s+([a-z.]+(?:\\.[a-z]+)*)=(\\S+);");

    public static void main(String[] args) {
        for (int i = 0; i < BYTES.length; i++)
            BYTES[i] = (byte) (RANDOM.nextInt(16) * (i % 7));
        Shares shares = new Shares(
            new String[] {"maps", "regex", "streams", "digest", "compress"},
            new double[] {0.30, 0.20, 0.20, 0.15, 0.15},
            new Shares.Phase[] {new Maps(), new Regex(), new Streams(), new Digest(),
                                new Compress()});

        if (args.length > 1 && args[0].equals("--rounds")) {
            shares.runRounds(args.length > 2 ? Integer.parseInt(args[2]) : 20);
            long cpu = cpuNs();
            long wall = System.nanoTime();
            shares.runRounds(Integer.parseInt(args[1]));
            System.out.println("work " + (cpuNs() - cpu) + " " + (System.nanoTime() - wall));
            return;
        }
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    private static long cpuNs() {
        return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static String makeLog() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 400; i++)
            text.append("WARN [").append(i * 31).append("] server.pool.size=").append(i).append("; ");
        return text.toString();
    }

    static final class Maps implements Shares.Phase {
        @Override
        public void run() {
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 0; i < 12_000; i++)
                counts.merge("key-" + RANDOM.nextInt(3000), 1, Integer::sum);
            TreeMap<String, Integer> sorted = new TreeMap<>(counts);
            List<Integer> values = new ArrayList<>(sorted.values());
            Collections.sort(values);
            sink = values;
        }
    }

    static final class Regex implements Shares.Phase {
        @Override
        public void run() {
            int found = 0;
            for (int i = 0; i < 24; i++) {
                Matcher matcher = LINE.matcher(LOG);
                while (matcher.find())
                    found += matcher.group(3).length();
            }
            sink = found;
        }
    }

    static final class Streams implements Shares.Phase {
        @Override
        public void run() {
            sink = IntStream.range(0, 240_000)
                       .filter(i -> i % 3 != 0)
                       .mapToObj(i -> "item" + i % 500)
                       .collect(Collectors.groupingBy(s -> s.charAt(s.length() - 1),
                                                      Collectors.counting()));
        }
    }

    static final class Digest implements Shares.Phase {
        @Override
        public void run() {
            try {
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                for (int i = 0; i < 6; i++)
                    sha.update(BYTES);
                sink = sha.digest();
            } catch (java.security.NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Compress implements Shares.Phase {
        @Override
        public void run() {
            Deflater deflater = new Deflater(6);
            byte[] out = new byte[1 << 16];
            deflater.setInput(BYTES);
            deflater.finish();
            int size = 0;
            while (!deflater.finished())
                size += deflater.deflate(out);
            deflater.end();
            sink = size;
        }
    }
}
