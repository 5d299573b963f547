// SPDX-License-Identifier: Apache-2.0

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Has frames of all kinds on its stacks, for the recorder: compiled by C1 and C2, interpreted,
 * native wrappers, calls from native code into Java, stubs, libraries; for so many seconds.
 */
public class Frames {
    static volatile long sink;

    interface Shape {
        long area(long of);
    }

    static final Shape[] SHAPES = {of -> of + 1, of -> of * 3, of -> of ^ 5, of -> 7 - of};

    static native void record(boolean on);

    static native long inNative(long seed);

    static native long callBack(int depth);

    static long calledBack(int depth) {
        return depth > 0 ? even(depth) : work(depth);
    }

    static long even(int depth) {
        return depth <= 0 ? callBack(0) : odd(depth - 1) + 1;
    }

    static long odd(int depth) {
        return depth <= 0 ? callBack(0) : even(depth - 1) * 3;
    }

    static long work(long seed) {
        long sum = seed;
        for (int i = 0; i < 40; i++) {
            sum += SHAPES[(int) (sum & 3)].area(i);
        }
        return sum;
    }

    static long maps(int turns) {
        Map<String, Integer> map = new HashMap<>();
        for (int i = 0; i < turns; i++) {
            map.merge("key" + i % 17, i, Integer::sum);
        }
        return map.hashCode();
    }

    static long copies(byte[] from, byte[] to) {
        for (int i = 0; i < 20; i++) {
            System.arraycopy(from, i, to, 3, 1000 + i);
        }
        return to[17] + new String(to, 0, 900).hashCode();
    }

    static long zip(byte[] from, byte[] to) {
        CRC32 crc = new CRC32();
        Deflater deflater = new Deflater();
        crc.update(from, 0, from.length);
        deflater.setInput(from);
        deflater.finish();
        long length = deflater.deflate(to);
        deflater.end();
        return crc.getValue() + length;
    }

    static long thrown(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("thrown");
        }
        return thrown(depth - 1) + 1;
    }

    static synchronized long locked(long of) {
        return work(of);
    }

    static long turn(int i, byte[] a, byte[] b) {
        long sum = even(9) + work(i) + maps(40) + copies(a, b) + inNative(i) + callBack(3);
        sum += locked(i) + (long) (1000 * Math.sin(i));
        if (i % 16 == 0) {
            sum += zip(a, b);
        }
        try {
            thrown(5);
        } catch (IllegalStateException e) {
            sum += e.getMessage().length();
        }
        return sum;
    }

    static void runFor(long seconds) {
        byte[] a = new byte[4000];
        byte[] b = new byte[6000];
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int i = 0; System.nanoTime() < end; i++) {
            a[i % a.length] = (byte) i;
            sink += turn(i, a, b);
            if (i % 64 == 0) {
                LockSupport.parkNanos(100_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        long seconds = Long.parseLong(args[1]);
        Thread other = new Thread(() -> runFor(seconds), "other");
        record(true);
        other.start();
        runFor(seconds);
        other.join();
        record(false);
    }
}
