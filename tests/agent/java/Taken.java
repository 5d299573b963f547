// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program that closes descriptors which are not its own, as a second close of the same number does,
 * and then opens what gets these numbers. Needs --add-opens java.base/java.io=ALL-UNNAMED.
 */
final class Taken {
    private static final List<RandomAccessFile> files = new ArrayList<>();
    private static final List<Socket> sockets = new ArrayList<>();
    private static final List<Integer> jdks = new ArrayList<>();

    private Taken() {
    }

    /** Of sockets and event counters; HotSpot does not survive that its own files are closed. */
    private static List<Integer> descriptors() throws IOException {
        List<Integer> found = new ArrayList<>();
        for (String name : new File("/proc/self/fd").list()) {
            Path link = Path.of("/proc/self/fd", name);
            if (Integer.parseInt(name) > 2 && Files.isSymbolicLink(link)
                    && Files.readSymbolicLink(link).toString().matches("(socket|anon_inode):.*")) {
                found.add(Integer.parseInt(name));
            }
        }
        return found;
    }

    private static void close(int number) throws Exception {
        FileDescriptor descriptor = new FileDescriptor();
        Field field = FileDescriptor.class.getDeclaredField("fd");
        field.setAccessible(true);
        field.setInt(descriptor, number);
        new FileInputStream(descriptor).close();
    }

    private static void openFile() throws IOException {
        File file = File.createTempFile("taken", null);
        files.add(new RandomAccessFile(file, "rw"));
        file.delete();
    }

    private static void openSockets() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            sockets.add(new Socket(server.getInetAddress(), server.getLocalPort()));
            sockets.add(server.accept());
        }
    }

    private static void open(String what) throws IOException {
        if (what.equals("sockets")) {
            openSockets();
        } else {
            openFile();
        }
    }

    private static void closeAll() throws IOException {
        for (RandomAccessFile file : files) {
            file.close();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
        files.clear();
        sockets.clear();
    }

    /** The agent's: all but those that the JDK has open as soon as it has had sockets. */
    static String take(String what) throws Exception {
        closeAll();
        List<Integer> before = descriptors();
        open(what);
        closeAll();
        if (jdks.isEmpty()) {
            jdks.addAll(descriptors());
            jdks.removeAll(before);
        }
        List<Integer> numbers = descriptors();
        numbers.removeAll(jdks);
        for (int number : numbers) {
            try {
                close(number);
            } catch (IOException e) {
                continue; // the agent, which has missed another one, has closed it meanwhile
            }
        }
        for (int i = 0; i < numbers.size() + 4; i++) {
            open(what);
        }
        return numbers.isEmpty() ? "there are none" : "ok";
    }

    private static int brokenFiles() {
        int broken = 0;
        for (RandomAccessFile file : files) {
            try {
                file.seek(4096);
                file.write('x');
                broken += file.length() == 4097 ? 0 : 1;
                file.setLength(0);
                file.seek(0);
            } catch (IOException e) {
                broken++;
            }
        }
        return broken;
    }

    /** Each byte that one end sends reaches the other one, and is the only one. */
    private static int brokenSockets() {
        int broken = 0;
        for (int i = 0; i < sockets.size(); i++) {
            try {
                sockets.get(i).getOutputStream().write(i);
                broken += sockets.get(i ^ 1).getInputStream().read() == i ? 0 : 1;
            } catch (IOException e) {
                broken++;
            }
        }
        return broken;
    }

    static String look() throws IOException {
        long bytes = 0;
        for (RandomAccessFile file : files) {
            try {
                bytes += file.length();
            } catch (IOException e) {
                continue; // counted as broken
            }
        }
        for (Socket socket : sockets) {
            try {
                bytes += socket.getInputStream().available();
            } catch (IOException e) {
                continue;
            }
        }
        return bytes + " bytes, " + (brokenFiles() + brokenSockets()) + " broken";
    }
}
