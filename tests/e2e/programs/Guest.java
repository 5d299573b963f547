// SPDX-License-Identifier: Apache-2.0
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;

/** A program in JavaScript, which Truffle has a compiler of JVMCI compile; it runs until killed. */
public final class Guest {
    private static final String PROGRAM =
        "function spin(n) {"
        + "    let sum = 0;"
        + "    for (let i = 0; i < n; i++)"
        + "        sum = (sum * 31 + i) % 1000003;"
        + "    return sum;"
        + "}"
        + "(function turn(n) { return spin(n) + spin(n / 2); })";

    public static void main(String[] args) {
        try (Context context = Context.create("js")) {
            Value turn = context.eval("js", PROGRAM);
            long sum = 0;

            System.out.println("ready");
            while (sum >= 0)
                sum += turn.execute(100_000).asLong();
        }
    }
}
