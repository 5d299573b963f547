// SPDX-License-Identifier: Apache-2.0
/**
 * Counts primes by trial division; countPrimes() has all but all of the CPU time.
 *
 * Usage: Primes [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Primes {
    private static final int STRIDE = 100_000;

    public static void main(String[] args) {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        long primes = 0;
        int from = 2;

        primes += countPrimes(from, from + STRIDE);
        System.out.println("ready");
        System.out.flush();
        while (seconds == 0 || System.nanoTime() < end) {
            primes += countPrimes(from, from + STRIDE);
            from = from > 50_000_000 ? 2 : from + STRIDE;
        }
        System.out.println("primes " + primes);
    }

    static int countPrimes(int from, int to) {
        int count = 0;
        for (int n = from; n < to; n++) {
            boolean prime = true;
            for (int d = 2; prime && (long) d * d <= n; d++)
                prime = n % d != 0;
            if (prime)
                count++;
        }
        return count;
    }
}
