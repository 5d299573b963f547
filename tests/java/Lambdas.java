// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.LongUnaryOperator;

/**
 * Lambdas, a proxy and a concatenation, whose classes the JVM makes up, in turn. They are called
 * from one place, too many to be inlined there, so that each is compiled by itself.
 *
 * Usage: Lambdas [SECONDS]; 0 (the default) runs until it is killed.
 */
public final class Lambdas {
    private static volatile long sink;

    private static long work(long x) {
        for (int i = 0; i < 5000; i++)
            x = (x ^ x >>> 29) * 6364136223846793005L + i;
        return x;
    }

    public static void main(String[] args) {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        InvocationHandler handler = (proxy, method, values) -> work((Long) values[0]);
        LongUnaryOperator[] operators = {
            x -> work(x) + 1,
            x -> work(x) ^ 2,
            x -> work(x + ("" + x + sink).length()),
            (LongUnaryOperator) Proxy.newProxyInstance(
                Lambdas.class.getClassLoader(), new Class<?>[] {LongUnaryOperator.class}, handler),
        };

        System.out.println("ready");
        System.out.flush();
        while (seconds == 0 || System.nanoTime() < end) {
            for (LongUnaryOperator operator : operators)
                sink = operator.applyAsLong(sink);
        }
    }
}
