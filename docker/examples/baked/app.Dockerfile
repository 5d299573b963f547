# SPDX-License-Identifier: Apache-2.0
#
# A service on that base image: nothing in it is about the agent.
ARG BASE=java-profiled:17
FROM ${BASE}
COPY app.jar /app/app.jar
USER 65532:65532
ENTRYPOINT ["java", "-jar", "/app/app.jar"]
