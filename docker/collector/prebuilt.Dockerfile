# SPDX-License-Identifier: Apache-2.0
#
# The collector, of what is compiled already: docker/build-images makes it, and root.tar of what
# docker/collector/make-root lays out. A tar, because builders give directories that they copy the
# time of the build; a file of its own, because a builder that is not BuildKit makes every stage above
# the one that is asked for. From USER on, all is as in Dockerfile, which says why.
FROM scratch
ADD root.tar /
USER 0:0
ENV PATH=/usr/bin LC_ALL=C.UTF-8
ENTRYPOINT ["/usr/bin/fgcollect"]
CMD ["--watch"]
