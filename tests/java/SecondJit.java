// SPDX-License-Identifier: Apache-2.0
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * A second code generator in the JVM's process: makes machine code of its own, calls it from
 * runForeign, and appends its names to $TMPDIR/perf-PID.map, which stays open. The first piece is
 * made before "ready", and a further one every second or so, up to 64.
 *
 * <p>Needs Java 22 and x86_64. Usage: java SecondJit.java
 */
public final class SecondJit {
    private static final int PAGE = 4096;
    private static final int PIECE = 64;
    private static final int PIECES = PAGE / PIECE;
    private static final int ROUNDS_A_PIECE = 50;
    private static final long COUNT = 20_000_000;

    /** Keeps its frame pointer, counts its argument down to 0, and returns. */
    private static final byte[] CODE = {
        0x55, 0x48, (byte) 0x89, (byte) 0xe5, 0x48, (byte) 0x89, (byte) 0xf8, 0x48, (byte) 0xff,
        (byte) 0xc8, 0x75, (byte) 0xfb, 0x5d, (byte) 0xc3};

    private static final Linker LINKER = Linker.nativeLinker();

    private static OutputStream map;
    private static MemorySegment page;
    private static int made;

    private static MethodHandle latest;
    private static volatile long javaSum;

    public static void main(String[] args) throws Throwable {
        long pid = ProcessHandle.current().pid();
        map = new FileOutputStream(System.getenv("TMPDIR") + "/perf-" + pid + ".map", true);
        page = mapPage();
        make();
        System.out.println("ready");
        System.out.flush();
        for (int round = 1;; round++) {
            if (round % ROUNDS_A_PIECE == 0 && made < PIECES)
                make();
            runForeign(latest);
            runJava();
        }
    }

    private static MemorySegment mapPage() throws Throwable {
        MethodHandle mmap = LINKER.downcallHandle(
            LINKER.defaultLookup().find("mmap").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
                                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                                  ValueLayout.JAVA_LONG));
        MemorySegment at = (MemorySegment) mmap.invokeExact(MemorySegment.NULL, (long) PAGE, 7,
                                                            0x22, -1, 0L);

        return at.reinterpret(PAGE, Arena.global(), null);
    }

    private static void make() throws IOException {
        long offset = (long) PIECE * made++;
        MemorySegment code = page.asSlice(offset, PIECE);
        String line = Long.toHexString(code.address()) + " 40 second_jit_piece_" + made + "\n";

        code.copyFrom(MemorySegment.ofArray(CODE));
        map.write(line.getBytes());
        latest = LINKER.downcallHandle(code, FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
    }

    private static void runForeign(MethodHandle code) throws Throwable {
        code.invokeExact(COUNT);
    }

    private static void runJava() {
        long sum = 0;

        for (long i = 0; i < COUNT; i++)
            sum += sum ^ i;
        javaSum = sum;
    }
}
