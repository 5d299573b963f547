// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Divides one thread's CPU time between phases by fixed shares, and says at the end what it did.
 *
 * Mostly the phase that lags furthest behind its share runs next, so that the shares hold over any
 * stretch of the run that is long against one call, which is some milliseconds. One time in three it
 * is a phase by chance, unless that one is far ahead: with a fixed order the program could fall into step with the timer of a
 * profiler, which would then see some phases at each tick and others never. Phases are three
 * classes or more behind one call site, so that the compiler cannot inline them: each phase's
 * run() is a frame of its own.
 */
final class Shares {
    interface Phase {
        void run();
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final long FAR_NS = 10_000_000;

    private final String[] names;
    private final double[] wanted;
    private final Phase[] phases;
    private final long[] spentNs;
    private final java.util.SplittableRandom chance = new java.util.SplittableRandom();

    Shares(String[] names, double[] wanted, Phase[] phases) {
        this.names = names;
        this.wanted = wanted;
        this.phases = phases;
        this.spentNs = new long[phases.length];
    }

    /** Runs for that many seconds by the clock, or until SIGTERM; until SIGTERM if seconds is 0. */
    void runFor(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        Ending.expect();
        while (!Ending.isAsked() && (seconds == 0 || System.nanoTime() < end))
            step();
    }

    /** Runs the phase whose turn it is. */
    void step() {
        int any = chance.nextInt(phases.length);
        runOne(chance.nextInt(3) == 0 && !isFarAhead(any) ? any : lagging());
    }

    /** CPU time of all phases. */
    long spentNs() {
        long all = 0;
        for (long ns : spentNs)
            all += ns;
        return all;
    }

    private boolean isFarAhead(int phase) {
        return spentNs[phase] > wanted[phase] * spentNs() + FAR_NS;
    }

    private int lagging() {
        int next = 0;
        for (int i = 1; i < phases.length; i++) {
            if (spentNs[i] / wanted[i] < spentNs[next] / wanted[next])
                next = i;
        }
        return next;
    }

    /** Runs each phase that many times: the same work in every run. */
    void runRounds(int rounds) {
        for (int i = 0; i < rounds; i++) {
            for (int phase = 0; phase < phases.length; phase++)
                runOne(phase);
        }
    }

    private void runOne(int phase) {
        long before = THREADS.getCurrentThreadCpuTime();
        phases[phase].run();
        spentNs[phase] += THREADS.getCurrentThreadCpuTime() - before;
    }

    void forget() {
        java.util.Arrays.fill(spentNs, 0);
    }

    /** One line a phase: "share hot 0.6003 of 12.345 s". */
    void print() {
        long all = spentNs();
        for (int i = 0; i < phases.length; i++)
            System.out.printf("share %s %.4f of %.3f s%n", names[i],
                              (double) spentNs[i] / all, all / 1e9);
        System.out.flush();
    }
}
