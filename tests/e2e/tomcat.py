# SPDX-License-Identifier: Apache-2.0
"""Debian's Tomcat 10 with a servlet of this project, on loopback, under load by wrk or ab.

The servlet is Work, or a file of the caller's; with an access log if the caller says its lines' form.
All files are in a directory of the caller, and the port is a free port. No service and no file of
the system is touched. Server and load are ended by their PIDs. The load also ends by itself.
"""

import contextlib
import pathlib
import re
import shutil

from harness import processes, settings

HOME = pathlib.Path("/usr/share/tomcat10")
JARS = pathlib.Path("/usr/share/java")
CONNECTIONS = 8

SERVER = """<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector port="0" address="127.0.0.1" protocol="org.apache.coyote.http11.Http11NioProtocol"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" autoDeploy="false">{valves}</Host>
    </Engine>
  </Service>
</Server>
"""

# In one file, which has all lines once the server has ended.
ACCESS_LOG = """
        <Valve className="org.apache.catalina.valves.AccessLogValve" directory="logs" prefix="access"
               suffix=".log" rotatable="false" pattern="{pattern}"/>
      """

WEB = """<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0" metadata-complete="true">
  <servlet><servlet-name>work</servlet-name><servlet-class>{servlet}</servlet-class></servlet>
  <servlet-mapping>
    <servlet-name>work</servlet-name><url-pattern>/work/*</url-pattern>
  </servlet-mapping>
</web-app>
"""

# The defaults of all applications: none.
EMPTY = """<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0"/>
"""

LOGGING = """handlers = java.util.logging.ConsoleHandler
java.util.logging.ConsoleHandler.level = INFO
"""

SERVLET = """import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.TreeMap;

public final class Work extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static int renames; // races matter to nobody

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
        String name = request.getParameter("rename");
        if (name != null) // as Dropwizard does for each request
            Thread.currentThread().setName(name + "-" + renames++ % 10);
        response.setContentType("text/html");
        PrintWriter out = response.getWriter();
        for (Map.Entry<String, Integer> entry : count(request.getParameter("text")).entrySet())
            out.println("<li>" + entry.getKey() + ": " + entry.getValue() + "</li>");
    }

    static Map<String, Integer> count(String text) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < 200; i++)
            counts.merge(text + i % 37, 1, Integer::sum);
        return counts;
    }
}
"""


def loader():
    return shutil.which("wrk") or shutil.which("ab")


def what_is_missing():
    """Why no server or no load can run here, or None."""
    if not (HOME / "bin" / "bootstrap.jar").exists():
        return "no Tomcat: apt-get install tomcat10-common"
    if not loader():
        return "no load: apt-get install wrk"
    if not settings.jdk_home(17):
        return "no JDK 17 to compile the servlet with"
    return None


def base_of(agent):
    return agent.place.directory / "tomcat"


def access_log(agent):
    """The file with the access log of the server that this agent was in; whole when it has ended."""
    return base_of(agent) / "logs" / "access.log"


def make_base(base, source, log_pattern):
    """Makes a CATALINA_BASE with one application, which has one servlet."""
    inner = base / "webapps" / "ROOT" / "WEB-INF"
    for path in (base / "conf", base / "logs", base / "temp", base / "work", inner / "classes"):
        path.mkdir(parents=True)
    valves = ACCESS_LOG.format(pattern=log_pattern) if log_pattern else ""
    (base / "conf" / "server.xml").write_text(SERVER.format(valves=valves))
    (base / "conf" / "web.xml").write_text(EMPTY)
    (base / "conf" / "logging.properties").write_text(LOGGING)
    if not source:
        source = base / "Work.java"
        source.write_text(SERVLET)
    (inner / "web.xml").write_text(WEB.format(servlet=source.stem))
    processes.run([settings.jdk_home(17) / "bin" / "javac", "--release", "17", "-cp",
                   HOME / "lib" / "servlet-api.jar", "-d", inner / "classes", source], check=True)


@contextlib.contextmanager
def serving(agent, jdk, source=None, log_pattern=None):
    """Runs the server. Yields the JVM and the servlet's URL.

    source: the servlet's file, in place of Work's; log_pattern: of an AccessLogValve.
    """
    base = base_of(agent)
    make_base(base, source, log_pattern)
    jars = ":".join(str(HOME / "bin" / jar) for jar in ("bootstrap.jar", "tomcat-juli.jar"))
    # Debian's jars are links to others.
    jvm = agent.start(jdk, [
        "-cp", jars, f"-Dcatalina.home={HOME}", f"-Dcatalina.base={base}", f"-Djava.io.tmpdir={agent.scratch}",
        f"-Djava.util.logging.config.file={base}/conf/logging.properties",
        "org.apache.catalina.startup.Bootstrap", "start"], [base, HOME, JARS])

    def port():
        if jvm.code is not None:
            raise processes.Failed(f"Tomcat ended with {jvm.code}:\n{jvm.text}")
        # The port is known once it listens, and is in the name of what listens there.
        return re.search(r'Starting ProtocolHandler \["http-nio-127\.0\.0\.1-auto-\d+-(\d+)"\]',
                         jvm.text)
    try:
        found = processes.wait_until(port, lambda: f"Tomcat listens:\n{jvm.text}", 30)
        yield jvm, f"http://127.0.0.1:{found.group(1)}/work?text=word"
    finally:
        jvm.stop()


@contextlib.contextmanager
def load(agent, jvm, url, seconds, warm_up=5):
    """Sends requests over several connections at once, for the given seconds and a warm-up."""
    seconds = int(seconds + warm_up + 1)
    program = loader()
    if program.endswith("wrk"):
        args = [program, "-t", 1, "-c", CONNECTIONS, "-d", f"{seconds}s", url]
    else:
        args = [program, "-q", "-k", "-c", CONNECTIONS, "-t", seconds, "-n", 10_000_000, url]
    generator = processes.Background([*agent.beside(jvm), *args],
                                     agent.place.directory / "load.log")
    try:
        with contextlib.suppress(processes.Failed):
            generator.wait(warm_up)
        if generator.code is not None:
            raise processes.Failed(f"the load ended with {generator.code}:\n{generator.text}")
        yield generator
    finally:
        generator.stop()
