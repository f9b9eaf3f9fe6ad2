# `docker build -o . .` puts the static file `podrun` into this directory. It runs on any Linux of the same architecture.
FROM debian:12 AS build
WORKDIR /podrun
COPY .ci/packages .ci/packages
RUN .ci/packages --build
COPY . .
RUN cmake --workflow --preset static

FROM scratch
COPY --from=build /podrun/build/static/apps/podrun/podrun /
