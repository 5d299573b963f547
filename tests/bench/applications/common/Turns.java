// SPDX-License-Identifier: Apache-2.0
/**
 * Does something again and again, and says how often after each second: "turns 1234". "ready" comes
 * first, after as many seconds as the first argument says.
 */
final class Turns {
    interface Turn {
        void run(long number) throws Exception;
    }

    private Turns() {
    }

    static void run(String[] args, Turn turn) throws Exception {
        long warmUp = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        long turns = 0;
        while (System.nanoTime() < warmUp)
            turn.run(turns++);
        System.out.println("ready");
        for (long said = System.nanoTime();;) {
            turn.run(turns++);
            if (System.nanoTime() - said > 100_000_000) {
                said = System.nanoTime();
                System.out.println("turns " + turns + " " + cpu());
            }
        }
    }

    /** Nanoseconds of CPU time of the process. */
    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }
}
