# syntax=docker/dockerfile:1

# Compiles the sources; none of its development dependencies reach the image.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --loglevel=error --no-progress --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY console ./console
# the editor of the console completes by it
COPY schemas ./schemas
COPY bin ./bin
COPY scripts/bundle.ts scripts/chunk-code.ts scripts/compile-chunks.ts ./scripts/
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json && node scripts/bundle.ts \
    && node node_modules/vite/bin/vite.js build --config console/vite.config.ts

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --loglevel=error --no-progress --ignore-scripts

FROM node:24-slim
LABEL org.opencontainers.image.title="generic-extractor" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    KBC_DATADIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY schemas ./schemas
COPY docker/entrypoint.sh docker/health.sh ./docker/
RUN mkdir -p /data && chown node:node /data
USER node
VOLUME /data
# of “serve”: the API, the object store, the importer
EXPOSE 8080 8081 8082
HEALTHCHECK --interval=60s --timeout=10s --start-period=5s CMD ["/app/docker/health.sh"]
ENTRYPOINT ["/app/docker/entrypoint.sh"]
