# One image for the backend and for machines:
#   docker build -t ralph-mode .
#   docker run … ralph-mode serve …            the backend
#   docker run … ralph-mode agents-server …    a machine
# Another base with Node >= 20.19, git and glibc works too: --build-arg BASE=…
ARG BASE=node:22-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The published package with the versions of the lock file, so that two builds of a commit have the same code.
RUN npm run --silent build && node scripts/unshipped.mjs && npm pack --silent --ignore-scripts --pack-destination /tmp \
  && mkdir /opt/ralph && tar -xzf /tmp/ralph-mode-*.tgz -C /opt/ralph --strip-components=1 \
  && cp package-lock.json /opt/ralph && cd /opt/ralph \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund && chmod 755 bin/cli/main.cjs

FROM ${BASE}
# git and ssh: checkpoints, clones, pushes. bubblewrap: cells for agents and checks. tini: ends processes that agents leave behind.
ARG INSTALL="git openssh-client ca-certificates bubblewrap tini procps"
RUN if [ -n "$INSTALL" ]; then apt-get update && apt-get install -y --no-install-recommends $INSTALL && rm -rf /var/lib/apt/lists/*; fi
COPY --from=build /opt/ralph /opt/ralph
# The machine's agents: add the programs that you use, such as
#   FROM ralph-mode
#   USER 0
#   RUN npm install --global @anthropic-ai/claude-code
#   USER 10001
RUN ln -s /opt/ralph/bin/cli/main.cjs /usr/local/bin/ralph \
  && groupadd --gid 10001 ralph && useradd --uid 10001 --gid 10001 --create-home --home-dir /data ralph \
  && mkdir -p /data /work && chown 10001:10001 /data /work
ENV HOME=/data RALPH_HOME=/data/.ralph NODE_ENV=production
USER 10001:10001
WORKDIR /work
# Everything else may be read-only: docker run --read-only --tmpfs /tmp
VOLUME ["/data", "/work"]
EXPOSE 7257 7258
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "/opt/ralph/bin/cli/main.cjs", "doctor", "--alive"]
ENTRYPOINT ["tini", "-g", "--", "ralph"]
CMD ["serve"]
