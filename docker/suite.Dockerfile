# SPDX-License-Identifier: Apache-2.0
# The whole suite with ROS 2. From the top of the repository:
#   docker build -f docker/suite.Dockerfile -t pqcmav-suite .                  Debian, ROS 2 as Python wheels, x86-64
#   docker build -f docker/suite.Dockerfile --build-arg BASE=ros:jazzy-ros-base -t pqcmav-suite .       Ubuntu, ROS 2
# 'docker run --rm pqcmav-suite' flies the demo and ends with its exit code.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
# 'analysis dashboard' makes an image that runs benchmarks, too.
ARG PARTS=dashboard
# Certificates of a network that has its own: files in the image, or mounted while it is built.
ARG PIP_CERT
ARG CARGO_HTTP_CAINFO
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates
WORKDIR /opt/pqc-mav
COPY . .
# What is needed to run stays: objects, archives and logs go.
RUN docker/entrypoint.sh tools/setup.sh $PARTS \
    && find build \( -name '*.o' -o -name '*.a' -o -name '*.gch' \) -delete \
    && rm -rf .deps/log .deps/*.work .deps/lock install/lib/*.a \
    && find . -name __pycache__ -prune -exec rm -rf {} + \
    && rm -rf src/*/test

FROM ${BASE}
ARG USER_ID=990
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 '^libyaml-cpp0\.[0-9]+$' \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt \
    && groupadd --system --gid "$USER_ID" pqcmav \
    && useradd --system --uid "$USER_ID" --gid pqcmav --home-dir /var/lib/pqcmav --shell /usr/sbin/nologin pqcmav \
    && install -d -m 0700 -o pqcmav -g pqcmav /keys /keys/gcs /keys/drones /keys/drones/drone1
COPY --from=build /opt/pqc-mav /opt/pqc-mav
ENV HOME=/tmp ROS_LOG_DIR=/tmp/log PYTHONDONTWRITEBYTECODE=1
USER pqcmav
ENTRYPOINT ["/opt/pqc-mav/docker/entrypoint.sh"]
CMD ["pqcmav", "demo"]
