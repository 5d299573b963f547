// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * Work that is done when somebody asks for it, so that all of it lies within a recording, and what
 * the program knows of it.
 *
 * <p>The file turn-1 in java.io.tmpdir asks for the first turn, turn-2 for the second. After each
 * there is a line "truth" with JSON: the turn's length in nanoseconds, and rows. A row has a kind,
 * the class of the object, lock or exception, the method of this program that is its site, how many
 * there were, and how much that was: bytes or nanoseconds.
 */
final class Turns {
    interface Work {
        void run(Turns truth) throws Exception;
    }

    private static final long POLL_MS = 20;
    private final List<String> rows = new ArrayList<>();

    void add(String kind, String type, String site, long count, long amount) {
        rows.add(String.format("{\"kind\": \"%s\", \"class\": \"%s\", \"site\": \"%s\","
                               + " \"count\": %d, \"amount\": %d}",
                               kind, type, site, count, amount));
    }

    /** Of arguments such as seconds=6: the value, or what there is unless it is given. */
    static String option(String[] args, String name, String otherwise) {
        for (String arg : args) {
            if (arg.startsWith(name + "=")) {
                return arg.substring(name.length() + 1);
            }
        }
        return otherwise;
    }

    static void serve(Work work) throws Exception {
        System.out.println("ready");
        for (int number = 1;; number++) {
            File asked = new File(System.getProperty("java.io.tmpdir"), "turn-" + number);
            Turns turn = new Turns();

            while (!asked.exists()) {
                Thread.sleep(POLL_MS);
            }
            long begin = System.nanoTime();
            work.run(turn);
            long ns = System.nanoTime() - begin;
            System.out.println("truth {\"ns\": " + ns + ", \"rows\": ["
                               + String.join(", ", turn.rows) + "]}");
            System.out.flush();
        }
    }
}
