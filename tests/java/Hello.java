// SPDX-License-Identifier: Apache-2.0
/** Lives 300 ms, or as many as its first argument says. */
public final class Hello {
    public static void main(String[] args) throws InterruptedException {
        System.out.println("hello");
        System.out.flush();
        Thread.sleep(args.length > 0 ? Long.parseLong(args[0]) : 300);
    }
}
