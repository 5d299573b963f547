// SPDX-License-Identifier: Apache-2.0
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What HotSpot has by hand, as stubs or as instructions in place: copying, filling, searching,
 * CRC32C, AES, SHA, BigInteger and Math each have 12.5 % of the CPU time, in the run() of a class.
 *
 * Usage: Natives [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Natives {
    private static volatile Object sink;
    private static volatile double number;
    private static final byte[] BYTES = new byte[1 << 20];

    public static void main(String[] args) {
        new Random(42).nextBytes(BYTES);
        Shares shares = new Shares(
            new String[] {"copy", "fill", "search", "crc", "aes", "sha", "big", "math"},
            new double[] {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125},
            new Shares.Phase[] {new Copy(), new Fill(), new Search(), new Crc(), new Aes(),
                                new Sha(), new Big(), new Maths()});
        shares.runRounds(20);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    static final class Copy implements Shares.Phase {
        private final byte[] to = new byte[BYTES.length];

        @Override
        public void run() {
            for (int i = 0; i < 40; i++)
                System.arraycopy(BYTES, i & 7, to, 0, to.length - 8);
            sink = to;
        }
    }

    static final class Fill implements Shares.Phase {
        private final int[] ints = new int[1 << 18];

        @Override
        public void run() {
            for (int i = 0; i < 40; i++)
                Arrays.fill(ints, i);
            sink = ints;
        }
    }

    static final class Search implements Shares.Phase {
        private final String text = "abcabcabd".repeat(20_000) + "needle";

        @Override
        public void run() {
            int found = 0;
            for (int i = 0; i < 20; i++)
                found += text.indexOf("needle") + text.indexOf('n');
            sink = found;
        }
    }

    static final class Crc implements Shares.Phase {
        @Override
        public void run() {
            CRC32C crc = new CRC32C();
            for (int i = 0; i < 20; i++)
                crc.update(BYTES, 0, BYTES.length);
            sink = crc.getValue();
        }
    }

    static final class Aes implements Shares.Phase {
        private final byte[] to = new byte[BYTES.length + 16];

        @Override
        public void run() {
            try {
                Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
                byte[] key = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
                cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"),
                            new IvParameterSpec(key));
                for (int i = 0; i < 3; i++)
                    cipher.doFinal(BYTES, 0, BYTES.length, to, 0);
                sink = to;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Sha implements Shares.Phase {
        @Override
        public void run() {
            try {
                for (String name : new String[] {"SHA-1", "SHA-256", "SHA-512"})
                    sink = MessageDigest.getInstance(name).digest(BYTES);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Big implements Shares.Phase {
        private final BigInteger modulus = new BigInteger(1024, new Random(1)).setBit(0);
        private final BigInteger base = new BigInteger(1000, new Random(2));

        @Override
        public void run() {
            sink = base.modPow(base, modulus).multiply(base);
        }
    }

    static final class Maths implements Shares.Phase {
        @Override
        public void run() {
            double sum = 0;
            for (int i = 1; i < 30_000; i++)
                sum += Math.sin(i) + Math.pow(i, 0.3) + Math.log(i) + Math.exp(-i);
            number = sum;
        }
    }
}
