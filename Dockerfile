# The hub as an image: `docker build -t patchbay .` in a clone. install/README.md says how it is run.
# The base is pinned. For a newer one: `docker buildx imagetools inspect node:22-trixie-slim` prints its digest.
FROM node:22.23.3-trixie-slim@sha256:b26b04c123d9ff8ab646ceb18b9d75a1173acf64b9a401094b906d27b29338d4 AS base

# What the hub needs to run, without the libraries of keyboard connections, which want a display. A layer that only other packages change.
FROM base AS packages
WORKDIR /opt/patchbay
COPY package.json package-lock.json .npmrc ./
RUN npm pkg delete scripts devDependencies optionalDependencies \
 && npm install --ignore-scripts --no-audit --no-fund

# The package, as `npm pack` makes it. What builds it is a layer that only other packages change, too.
FROM base AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run -s prepare \
 && npm pack --silent --pack-destination /tmp \
 && mkdir /packed \
 && tar -xzf /tmp/patchbay-hub-*.tgz -C /packed --strip-components=1 \
 && chmod 755 /packed/dist/patchbay.cjs

FROM base
LABEL org.opencontainers.image.title="Patchbay" \
      org.opencontainers.image.description="A hub of parameters: connections, rules and dashboards meet" \
      org.opencontainers.image.licenses="MIT"
COPY --from=packages /opt/patchbay/node_modules /opt/patchbay/node_modules
COPY --from=build /packed /opt/patchbay
RUN ln -s /opt/patchbay/dist/patchbay.cjs /usr/local/bin/patchbay \
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
# With this name `init` makes flow files for a container, and prints how to run them.
ENV PATCHBAY_IMAGE=patchbay
# The memory that a flood has taken goes back to the system: else the allocator of the system keeps it for later.
ENV MALLOC_MMAP_THRESHOLD_=32768 MALLOC_TRIM_THRESHOLD_=1048576
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`${process.env.PATCHBAY_URL}/hub/health/live`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["patchbay"]
CMD ["run", "flows"]
