# The hub as an image: `docker build -t patchbay .` in a clone. install/README.md says how it is run.
FROM node:22-trixie-slim AS build
WORKDIR /build
COPY . .
RUN npm install --no-audit --no-fund \
 && npm pack --silent --pack-destination /tmp \
 && mkdir /opt/patchbay \
 && tar -xzf /tmp/patchbay-hub-*.tgz -C /opt/patchbay --strip-components=1 \
 && cp package-lock.json /opt/patchbay/ \
 && npm install --prefix /opt/patchbay --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:22-trixie-slim
LABEL org.opencontainers.image.title="Patchbay" \
      org.opencontainers.image.description="A hub of parameters: connections, rules and dashboards meet" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/patchbay /opt/patchbay
RUN ln -s /opt/patchbay/dist/patchbay.js /usr/local/bin/patchbay \
 && install -d /etc/patchbay \
 && install -d -o 1000 -g 1000 -m 700 /var/lib/patchbay
WORKDIR /etc/patchbay
# The user `node` of the image. It may write nothing but the volume, so the root of a container may be read-only.
USER 1000:1000
VOLUME /var/lib/patchbay
EXPOSE 17011
ENV PATCHBAY_URL=http://127.0.0.1:17011
# Here V8 finds at the next start what it has compiled.
ENV PATCHBAY_CACHE=/var/lib/patchbay/code
# The memory that a flood has taken goes back to the system: else the allocator of the system keeps it for later.
ENV MALLOC_MMAP_THRESHOLD_=32768 MALLOC_TRIM_THRESHOLD_=1048576
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`${process.env.PATCHBAY_URL}/hub/health/live`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["patchbay"]
CMD ["run", "flows"]
