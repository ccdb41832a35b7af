# winnow in a container, built from source: the gateway, or any other command.
#
#   docker build -t winnow .
#   docker run --rm -p 127.0.0.1:8484:8484 -v winnow:/data winnow serve --listen 0.0.0.0:8484 --host localhost \
#     --allow-keyless --upstream anthropic=https://api.anthropic.com
#
# deploy/Containerfile makes the same image from a program that is built already.
FROM docker.io/library/golang:1.26 AS build
ARG VERSION=
WORKDIR /src
COPY . .
RUN mkdir -p /out/data \
  && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/winnow-llm/winnow/internal/app.version=${VERSION}" -o /out/winnow ./cmd/winnow \
  && go run ./internal/app/release -licences /out/LICENSES.txt

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/winnow /out/LICENSES.txt /
COPY --from=build --chown=65532:65532 /out/data /data
COPY LICENSE NOTICE /
USER 65532:65532
ENV HOME=/data XDG_DATA_HOME=/data XDG_CONFIG_HOME=/data/config TMPDIR=/data
VOLUME /data
EXPOSE 8484
ENTRYPOINT ["/winnow"]
CMD ["help"]
