// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Much time in libz, libc and the kernel, below JNI: deflate 25 %, inflate 25 %, writing and
 * reading of files 20 %, transfer between channels 10 %, listing of a directory 10 % and CRC32
 * 10 % of the main thread's CPU time, each in the run() of its class.
 *
 * Usage: ZipFiles [SECONDS]; 0 (the default) runs until it is killed. Works in a directory of its
 * own below java.io.tmpdir, and removes it when it ends by itself or by SIGTERM.
 */
public final class ZipFiles {
    private static volatile Object sink;
    private static final byte[] BYTES = new byte[1 << 18];
    private static Path directory;

    public static void main(String[] args) throws IOException {
        Random random = new Random(42);
        for (int i = 0; i < BYTES.length; i++)
            BYTES[i] = (byte) (random.nextInt(16) * (i % 7));
        directory = Files.createTempDirectory("zipfiles");
        Thread worker = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> removeAllAfter(worker)));
        for (int i = 0; i < 100; i++)
            Files.write(directory.resolve("listed-" + i), new byte[i]);
        Shares shares = new Shares(
            new String[] {"deflate", "inflate", "files", "channels", "listing", "crc"},
            new double[] {0.25, 0.25, 0.2, 0.1, 0.1, 0.1},
            new Shares.Phase[] {new Deflate(), new Inflate(), new ReadWrite(), new Channels(),
                                new Listing(), new Crc()});
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    /** Once the worker has ended: until then it makes and reads files. */
    private static void removeAllAfter(Thread worker) {
        try {
            worker.join();
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : (Iterable<Path>) files::iterator)
                    Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } catch (IOException | InterruptedException e) {
            sink = e;
        }
    }

    private static byte[] deflated() {
        Deflater deflater = new Deflater(6);
        byte[] out = new byte[BYTES.length];
        deflater.setInput(BYTES);
        deflater.finish();
        int size = 0;
        while (!deflater.finished() && size < out.length)
            size += deflater.deflate(out, size, out.length - size);
        deflater.end();
        return java.util.Arrays.copyOf(out, size);
    }

    static final class Deflate implements Shares.Phase {
        @Override
        public void run() {
            sink = deflated();
        }
    }

    static final class Inflate implements Shares.Phase {
        private final byte[] packed = deflated();
        private final byte[] out = new byte[1 << 13];

        @Override
        public void run() {
            try {
                for (int i = 0; i < 4; i++) {
                    Inflater inflater = new Inflater();
                    inflater.setInput(packed);
                    while (!inflater.finished())
                        inflater.inflate(out);
                    inflater.end();
                }
            } catch (DataFormatException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class ReadWrite implements Shares.Phase {
        private final byte[] buffer = new byte[1 << 13];

        @Override
        public void run() {
            Path file = directory.resolve("written");
            int sum = 0;
            try {
                try (OutputStream out = Files.newOutputStream(file)) {
                    for (int at = 0; at < BYTES.length; at += buffer.length)
                        out.write(BYTES, at, buffer.length);
                }
                try (InputStream in = new java.io.FileInputStream(file.toFile())) {
                    for (int n; (n = in.read(buffer)) > 0;)
                        sum += n;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            sink = sum;
        }
    }

    static final class Channels implements Shares.Phase {
        @Override
        public void run() {
            Path from = directory.resolve("from");
            try {
                if (!Files.exists(from))
                    Files.write(from, BYTES);
                try (FileChannel in = FileChannel.open(from);
                     FileChannel out = FileChannel.open(
                         directory.resolve("to"), StandardOpenOption.CREATE,
                         StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                    sink = in.transferTo(0, in.size(), out);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static final class Listing implements Shares.Phase {
        @Override
        public void run() {
            long bytes = 0;
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : (Iterable<Path>) files::iterator)
                    bytes += file.toFile().length();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            sink = bytes;
        }
    }

    static final class Crc implements Shares.Phase {
        @Override
        public void run() {
            CRC32 crc = new CRC32();
            for (int i = 0; i < 20; i++)
                crc.update(BYTES);
            sink = crc.getValue();
        }
    }
}
