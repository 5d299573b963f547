// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * A service that is slow while somebody wants it to be: each turn of some 20 ms answers a request, for
 * which 4 ms of processor time are needed, and while there is a file "slow" in java.io.tmpdir the turn
 * also checks all prices, for 16 ms. Turns differ in length, as turns of exactly two periods of a sampler
 * are either always or never seen by the sampler.
 *
 * <p>Says with lines "ready MS NS", "slow from MS NS" and "slow to MS NS" when that was, in milliseconds
 * since 1970, and how much processor time its thread had used until then.
 */
public final class SlowSpell {
    private static final long TURN_MS = 20;
    private static final int TURNS_DIFFER_BY_MS = 12;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile double sink;

    public static void main(String[] args) throws Exception {
        File asked = new File(System.getProperty("java.io.tmpdir"), "slow");
        Random random = new Random(1);
        boolean isSlow = false;

        say("ready");
        for (;;) {
            long begin = System.nanoTime();

            if (asked.exists() != isSlow) {
                isSlow = !isSlow;
                say(isSlow ? "slow from" : "slow to");
            }
            answerRequest(cpuTime() + 4_000_000);
            if (isSlow) {
                checkAllPrices(cpuTime() + 16_000_000);
            }
            long turnMs = TURN_MS - TURNS_DIFFER_BY_MS / 2 + random.nextInt(TURNS_DIFFER_BY_MS + 1);

            Thread.sleep(Math.max(1, turnMs - (System.nanoTime() - begin) / 1_000_000));
        }
    }

    private static long cpuTime() {
        return THREADS.getCurrentThreadCpuTime();
    }

    private static void say(String what) {
        System.out.println(what + " " + System.currentTimeMillis() + " " + cpuTime());
        System.out.flush();
    }

    private static void answerRequest(long end) {
        double sum = sink;

        while (cpuTime() < end) {
            for (int i = 1; i < 1000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }
        sink = sum;
    }

    private static void checkAllPrices(long end) {
        long price = (long) sink;

        while (cpuTime() < end) {
            for (int i = 1; i < 1000; i++) {
                price = price * 31 + i / 3;
            }
        }
        sink = price;
    }
}
