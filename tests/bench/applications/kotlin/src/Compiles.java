// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** The Kotlin compiler, on a few files that were made up. */
public final class Compiles {
    private static final int FILES = 8;

    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory("kotlin");
        for (int i = 0; i < FILES; i++)
            Files.writeString(directory.resolve("File" + i + ".kt"), source(i));
        Turns.run(args, turn -> compile(directory));
    }

    private static void compile(Path directory) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int code = new K2JVMCompiler().exec(new PrintStream(said), directory.toString(), "-d",
            directory.resolve("out").toString(), "-no-stdlib", "-no-reflect", "-classpath",
            System.getProperty("java.class.path"), "-nowarn").getCode();
        if (code != 0)
            throw new IllegalStateException(said.toString());
    }

    private static String source(int number) {
        StringBuilder text = new StringBuilder("package made.up" + number + "\n");
        for (int i = 0; i < 30; i++) {
            text.append("data class Item").append(i)
                .append("(val name: String, val price: Int, val parts: List<String>)\n")
                .append("sealed interface Shape").append(i).append("\n")
                .append("fun sum").append(i).append("(items: List<Item").append(i)
                .append(">): Map<String, Int> = items.filter { it.price > ").append(i)
                .append(" }.groupBy { it.name }.mapValues { (_, all) -> all.sumOf { it.price } }\n");
        }
        return text.toString();
    }
}
