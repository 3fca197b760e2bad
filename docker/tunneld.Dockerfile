# SPDX-License-Identifier: Apache-2.0
# One end of the tunnel, without ROS and Python, from the package that 'make deb' makes. From the top of the repository:
#   make deb && docker build -f docker/tunneld.Dockerfile -t pqcmav-tunneld \
#     --build-arg BASE="$(. /etc/os-release; echo "$ID:$VERSION_CODENAME")" .
# BASE has to be of the release of the machine that made the package.
# It runs as a user without privileges, and with a read-only root: see docker/README.md.
ARG BASE=debian:bookworm-slim
FROM ${BASE}

ARG TARGETARCH
# A number that does not change with the image, for the owner of the keys in a volume.
ARG USER_ID=990
COPY build-deb/pqcmav-tunneld_*_${TARGETARCH}.deb /tmp/
RUN groupadd --system --gid "$USER_ID" pqcmav \
    && useradd --system --uid "$USER_ID" --gid pqcmav --home-dir /var/lib/pqcmav --shell /usr/sbin/nologin pqcmav \
    && apt-get update \
    && apt-get install --yes --no-install-recommends /tmp/pqcmav-tunneld_*.deb \
    && rm -rf /tmp/*.deb /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt

# The one folder that can be written to everywhere. The control socket is there, too, unless /run/pqcmav is mounted.
ENV PQCMAV_HEALTH_FILE=/dev/shm/pqcmav-health XDG_RUNTIME_DIR=/dev/shm
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["/usr/bin/pqcmav-tunneld", "--healthy"]
USER pqcmav
ENTRYPOINT ["/usr/bin/pqcmav-tunneld"]
CMD ["/etc/pqcmav/tunneld/drone.yaml"]
