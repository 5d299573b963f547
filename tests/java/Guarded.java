// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.ReentrantLock;

/**
 * Many small methods that take a lock of java.util.concurrent. Into each of them the compilers
 * inline code that the JDK allows to use the stack's reserved zone, so that each asks at its end
 * whether that zone has to be guarded again: methods that keep little meanwhile 50 %, and much 30 %,
 * and ones that have the lock already 20 %; each in the run() of its class.
 *
 * Between them and what may be interpreted there are frames of several sizes, and words on the
 * operand stack or none. So a walk that takes a frame for whole when it is gone finds anything in
 * the place of the return address: also that of a frame further down.
 *
 * Usage: Guarded [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Guarded {
    private static final int TURNS = 8_000;

    private static volatile long sink;

    public static void main(String[] args) {
        Shares shares = new Shares(
            new String[] {"few", "many", "held"}, new double[] {0.5, 0.3, 0.2},
            new Shares.Phase[] {new Few(), new Many(), new Held()});
        shares.runRounds(60);
        shares.forget();
        System.out.println("ready");
        System.out.flush();
        shares.runFor(args.length > 0 ? Double.parseDouble(args[0]) : 0);
        shares.print();
    }

    /** What is called by interpreted code. */
    abstract static class Counter implements Shares.Phase {
        final ReentrantLock lock = new ReentrantLock();
        int value;

        abstract int add(int by);

        @Override
        public void run() {
            int sum = 0;
            for (int i = 0; i < TURNS; i++)
                sum += call(i);
            sink = sum;
        }

        private int call(int i) {
            switch (i & 7) {
            case 0:
                return keepNone(i);
            case 1:
                return i + keepNone(i);
            case 2:
                return keepTwo(i);
            case 3:
                return i + keepTwo(i);
            case 4:
                return keepFour(i);
            case 5:
                return i + keepFour(i);
            case 6:
                return add(i);
            default:
                return i + add(i);
            }
        }

        private int keepNone(int i) {
            return -add(i);
        }

        private int keepTwo(int i) {
            int a = value, b = a * i;
            return add(i) + a ^ b;
        }

        private int keepFour(int i) {
            int a = value, b = a * i, c = a ^ i, d = a - i;
            return add(i) + a ^ b - c ^ d;
        }
    }

    static final class Few extends Counter {
        @Override
        int add(int by) {
            lock.lock();
            value += by;
            lock.unlock();
            return by;
        }
    }

    /** What it has read before it took the lock, it needs when it has the lock. */
    static final class Many extends Counter {
        private volatile int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;

        @Override
        int add(int by) {
            int a = this.a, b = this.b, c = this.c, d = this.d;
            int e = this.e, f = this.f, g = this.g, h = this.h;
            lock.lock();
            value += a * by + b;
            lock.unlock();
            return a ^ b + c ^ d + e ^ f + g ^ h;
        }
    }

    static final class Held extends Counter {
        @Override
        public void run() {
            lock.lock();
            try {
                super.run();
            } finally {
                lock.unlock();
            }
        }

        @Override
        int add(int by) {
            lock.lock();
            value += by;
            lock.unlock();
            return value;
        }
    }
}
