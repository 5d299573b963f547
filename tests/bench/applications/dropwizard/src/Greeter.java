// SPDX-License-Identifier: Apache-2.0
import io.dropwizard.Application;
import io.dropwizard.Configuration;
import io.dropwizard.setup.Environment;
import java.util.Map;
import java.util.TreeMap;
import javax.ws.rs.GET;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.MediaType;

/** Dropwizard with one resource; it names its thread after each request. */
public final class Greeter extends Application<Configuration> {
    public static void main(String[] args) throws Exception {
        new Greeter().run(args);
        System.out.println("ready");
    }

    @Override
    public void run(Configuration configuration, Environment environment) {
        environment.jersey().register(new Words());
    }

    @Path("/words")
    @Produces(MediaType.APPLICATION_JSON)
    public static final class Words {
        @GET
        public Map<String, Integer> count(@QueryParam("text") String text) {
            Map<String, Integer> counts = new TreeMap<>();
            for (int i = 0; i < 100; i++)
                counts.merge(text + i % 23, 1, Integer::sum);
            return counts;
        }
    }
}
