// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/** Threads that park at the end of a known chain of methods; the lines are what run_jvms.py expects. */
public class Nest {
    interface Step {
        int down(int left);
    }

    static class Inner {
        static int ping(int left, String text, long[] more) {
            return left == 0 ? park() : pong(left - 1, 1.0);
        }

        static int pong(int left, double ignored) {
            if (left == 0) {
                return park();
            }
            // A line that is more than seven further than the last has a longer entry in the JVM's
            // table of lines, and so has one that comes before it:
            //
            //
            //
            //
            //
            //
            return ping(left - 1, "x", null) + 1;
        }
    }

    static int park() {
        while (true) {
            LockSupport.park();
        }
    }

    private int änderung(int left) {
        return Inner.ping(left, "y", new long[1]);
    }

    static void enter(int left) {
        Nest nest = new Nest();
        Step step = n -> nest.änderung(n);
        step.down(left);
    }

    public static void main(String[] args) throws Exception {
        Thread thread = new Thread(() -> enter(Integer.parseInt(args[0])), "nested");
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(10);
        }
        System.out.println("ready");
        System.in.read();
        Runtime.getRuntime().halt(0);
    }
}
