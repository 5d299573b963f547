// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * As many compiled methods as wanted: classes are written byte by byte, 250 small methods each with
 * lines and two calls that the compiler inlines, and every method is called once.
 *
 * Usage: ManyMethods METHODS [ROUNDS [IDLE_SECONDS [PAUSE_MS]]]. Each of the ROUNDS makes METHODS
 * new methods, and drops those of the round before, with a pause in between. It says "ready" before
 * the first, "idle" after the last, and sleeps then, compiling nothing new.
 *
 * One call is enough to compile a method with these flags, which leave the JDK's own alone:
 *   -Xcomp -XX:TieredStopAtLevel=1 -XX:CompileCommand=compileonly,Many*.*
 *   -XX:CompileCommand=dontinline,Many*.computeStep*
 */
public final class ManyMethods {
    private static final int PER_CLASS = 250;
    private static final int ACC_PUBLIC_STATIC = 9;
    private static volatile int sink;

    private static final class Loader extends ClassLoader {
        Loader() {
            super(ManyMethods.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        int methods = Integer.parseInt(args[0]);
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        double idle = args.length > 2 ? Double.parseDouble(args[2]) : 600;
        long pauseMs = args.length > 3 ? Long.parseLong(args[3]) : 0;
        List<Class<?>> kept = new ArrayList<>();

        System.out.println("ready");
        System.out.flush();
        for (int round = 0; round < rounds; round++) {
            if (!kept.isEmpty()) {
                kept.clear();
                System.gc();
                Thread.sleep(pauseMs);
            }
            for (int first = 0; first < methods; first += PER_CLASS) {
                Class<?> many = new Loader().define(
                    write(first / PER_CLASS, Math.min(PER_CLASS, methods - first)));
                sink = (int) many.getMethod("all", int.class).invoke(null, sink);
                kept.add(many);
            }
        }
        System.out.println("idle " + kept.size());
        System.out.flush();
        Thread.sleep((long) (idle * 1000));
        System.out.println(kept.size());
    }

    /** What every method calls: small enough to be inlined. */
    public static int mix(int x) {
        int y = x ^ x >>> 7;
        return y * 31 + 1;
    }

    /** The constants of the classes: where each is in their pools. */
    private static final int THIS = 2;
    private static final int OBJECT = 4;
    private static final int CODE = 5;
    private static final int LINES = 6;
    private static final int SOURCE_FILE = 7;
    private static final int FILE = 8;
    private static final int INT_INT = 9;
    private static final int ALL = 10;
    private static final int MIX = 15;
    private static final int FIRST_METHOD = 16;

    /** Class ManyNNNN, as chapter 4 of the JVM's specification describes one. */
    private static byte[] write(int number, int methods) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);

        out.writeInt(0xCAFEBABE);
        out.writeInt(52);
        writeConstants(out, String.format("Many%04d", number), methods);
        out.writeShort(0x21); // public, super
        out.writeShort(THIS);
        out.writeShort(OBJECT);
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(methods + 1);
        writeAll(out, methods);
        for (int i = 0; i < methods; i++)
            writeMethod(out, i);
        out.writeShort(1);
        out.writeShort(SOURCE_FILE);
        out.writeInt(2);
        out.writeShort(FILE);
        return bytes.toByteArray();
    }

    private static void writeConstants(DataOutputStream out, String name, int methods)
        throws IOException {
        out.writeShort(FIRST_METHOD + 3 * methods);
        writeText(out, name);
        writeReference(out, 7, 1);
        writeText(out, "java/lang/Object");
        writeReference(out, 7, 3);
        for (String text : new String[] {"Code", "LineNumberTable", "SourceFile", "Many.java",
                                         "(I)I", "all", "ManyMethods"})
            writeText(out, text);
        writeReference(out, 7, 11);
        writeText(out, "mix");
        writeReference(out, 12, 13, INT_INT);
        writeReference(out, 10, 12, 14);
        for (int i = 0; i < methods; i++) {
            int at = FIRST_METHOD + 3 * i;
            writeText(out, String.format("computeStep%03d", i));
            writeReference(out, 12, at, INT_INT);
            writeReference(out, 10, THIS, at + 1);
        }
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    /** A class (7), name and type (12) or method (10). */
    private static void writeReference(DataOutputStream out, int tag, int... to)
        throws IOException {
        out.writeByte(tag);
        for (int index : to)
            out.writeShort(index);
    }

    /** int all(int x): calls them all. */
    private static void writeAll(DataOutputStream out, int methods) throws IOException {
        writeHead(out, ALL, 2 + 3 * methods, 1);
        out.writeByte(0x1a); // iload_0
        for (int i = 0; i < methods; i++) {
            out.writeByte(0xb8); // invokestatic
            out.writeShort(FIRST_METHOD + 3 * i + 2);
        }
        out.writeByte(0xac); // ireturn
        writeLines(out, 1, 0);
    }

    /** int computeStepNNN(int x): mix(mix(x) ^ NNN), on three lines. */
    private static void writeMethod(DataOutputStream out, int i) throws IOException {
        writeHead(out, FIRST_METHOD + 3 * i, 12, 3);
        out.writeByte(0x1a); // iload_0
        out.writeByte(0xb8);
        out.writeShort(MIX);
        out.writeByte(0x11); // sipush
        out.writeShort(i);
        out.writeByte(0x82); // ixor
        out.writeByte(0xb8);
        out.writeShort(MIX);
        out.writeByte(0xac);
        writeLines(out, 10 + 4 * i, 0, 4, 8);
    }

    /** A method of type int(int) up to its code. */
    private static void writeHead(DataOutputStream out, int name, int codeBytes, int lines)
        throws IOException {
        out.writeShort(ACC_PUBLIC_STATIC);
        out.writeShort(name);
        out.writeShort(INT_INT);
        out.writeShort(1);
        out.writeShort(CODE);
        out.writeInt(12 + codeBytes + 8 + 4 * lines);
        out.writeShort(2); // of stack
        out.writeShort(1); // variable
        out.writeInt(codeBytes);
    }

    private static void writeLines(DataOutputStream out, int first, int... starts)
        throws IOException {
        out.writeShort(0); // exceptions caught
        out.writeShort(1);
        out.writeShort(LINES);
        out.writeInt(2 + 4 * starts.length);
        out.writeShort(starts.length);
        for (int i = 0; i < starts.length; i++) {
            out.writeShort(starts[i]);
            out.writeShort(first + i);
        }
    }
}
