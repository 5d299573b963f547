// SPDX-License-Identifier: Apache-2.0
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import java.util.TreeMap;

/** Helidon 4: each connection is a virtual thread. */
public final class Hello {
    public static void main(String[] args) {
        WebServer.builder().host("127.0.0.1").port(8080).routing(Hello::route).build().start();
        System.out.println("ready");
    }

    private static void route(HttpRouting.Builder routing) {
        routing.get("/words", Hello::count);
    }

    private static void count(ServerRequest request, ServerResponse response) {
        Map<String, Integer> counts = new TreeMap<>();
        String text = request.query().first("text").orElse("word");
        for (int i = 0; i < 200; i++)
            counts.merge(text + i % 37, 1, Integer::sum);
        response.send(counts.toString());
    }
}
