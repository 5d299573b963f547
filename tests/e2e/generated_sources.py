# SPDX-License-Identifier: Apache-2.0
"""Writes some hundred source files for javac, with code of several kinds that gives javac work."""

SOURCE = """package generated;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public class C{n} {{
    private final Map<String, List<Integer>> byName = new TreeMap<>();

    enum Kind {{ ONE, TWO, THREE }}

    interface Visitor<R> {{
        R visit(Kind kind, int depth);
    }}

    public <T extends Comparable<T>> T greatest(List<? extends T> of, T least) {{
        T found = least;
        for (T each : of)
            found = each.compareTo(found) > 0 ? each : found;
        return found;
    }}

    public int sum{n}(String name, int... numbers) {{
        List<Integer> known = byName.get(name);
        if (known == null)
            byName.put(name, known = new ArrayList<Integer>());
        for (int number : numbers)
            known.add(number * {n} + C{other}.constant());
        int sum = 0;
        for (int number : known)
            sum += number;
        return sum;
    }}

    public String describe(Object what) {{
        Visitor<String> visitor = new Visitor<String>() {{
            @Override
            public String visit(Kind kind, int depth) {{
                return kind.name() + depth + what;
            }}
        }};
        switch (Kind.values()[Math.abs(what.hashCode()) % 3]) {{
        case ONE: return visitor.visit(Kind.ONE, {n});
        case TWO: return visitor.visit(Kind.TWO, {n} + 1);
        default: return "none of C{n}: " + this.<Integer>greatest(byName.get("C{n}"), 0);
        }}
    }}

    static int constant() {{
        return {n};
    }}
}}
"""


def write_sources(directory, files):
    """Makes the directory and its files. Returns a file that lists all files, for javac's @."""
    directory.mkdir()
    for n in range(files):
        (directory / f"C{n}.java").write_text(SOURCE.format(n=n, other=(n + 1) % files))
    listed = directory / "all"
    listed.write_text("\n".join(f"{directory}/C{n}.java" for n in range(files)))
    return listed
