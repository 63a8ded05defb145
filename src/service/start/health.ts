import type { Server } from 'node:http';
import type { Env } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import { listenOn } from '../platform/connections/listening.ts';
import type { Meta } from '../stores/metadata/database.ts';
import { missingMigrations } from '../stores/metadata/migrate.ts';
import { readQueueState } from '../stores/metadata/queue-state.ts';
import { isWritable } from '../stores/metadata/is-writable.ts';
import type { ServiceOptions } from './service-options.ts';
import { createAdmission, type Admission } from '../http/limits/admission.ts';
import { noMetrics, type Metrics } from '../platform/health/metrics.ts';
import { createProbes, type Probe } from '../platform/health/probes.ts';
import { createProbeServer } from '../platform/health/probe-server.ts';
import type { DatabaseConnections, Exposition, QueueState } from '../platform/health/prometheus.ts';
import { createReadiness, Unready, type Readiness } from '../platform/health/readiness.ts';

/** Services for the operators of a running process; one of each, however many parts the process has. */
export interface Care {
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly readiness: Readiness;
  readonly probes: readonly Probe[];
  /** Starts to check the metadata, which are open now, by the clock that all processes over them share. */
  watch(meta: Meta, env: Env, connections?: () => DatabaseConnections): void;
  /** Answers the probes at the address of the options, if any. @returns the address */
  listen(): Promise<string | undefined>;
  close(): Promise<void>;
}

export async function createCare(options: ServiceOptions, env: Env, log: Log): Promise<Care> {
  const readiness = createReadiness(env, log);
  let meta: Meta | undefined;
  let shared = env;
  let connections: (() => DatabaseConnections) | undefined;
  const queue = remembered(env, async () =>
    meta === undefined ? undefined : await readQueueState(meta, shared.now()),
  );
  let exposition: Exposition | undefined;
  let metrics = noMetrics;
  // Nobody monitors a command that uses a folder itself, and it should start at once.
  if (options.isEmbedded !== true) {
    const { createPrometheus } = await import('../platform/health/prometheus.ts');
    const prometheus = createPrometheus();
    metrics = prometheus.metrics;
    exposition = prometheus.expose({
      queue: async () => await queue().catch(() => undefined),
      databaseConnections: () => connections?.(),
      requestsInProgress: () => admission.inProgress,
      isReady: async () => (await readiness.condition()).reasons.length === 0,
    });
  }
  const admission = createAdmission(env, metrics, options);
  const probes = createProbes(readiness, exposition);
  let server: Server | undefined;
  return {
    metrics,
    admission,
    readiness,
    probes,
    watch(opened, time, pool) {
      meta = opened;
      shared = time;
      connections = pool;
      readiness.add([
        {
          name: 'database',
          check: async () => {
            if (!(await isWritable(opened)))
              throw new Unready('It takes no changes: it is a replica, or read-only.');
            const missing = await missingMigrations(opened);
            if (missing.length > 0)
              throw new Unready(`Its tables are older than this program: ${missing.join(', ')}.`);
          },
        },
      ]);
    },
    async listen() {
      const { healthPort: port, healthHost: host = '127.0.0.1' } = options;
      if (port === undefined) return undefined;
      server = createProbeServer(probes, log);
      return await listenOn(server, { host, port });
    },
    async close() {
      const closing = server;
      server = undefined;
      if (closing?.listening !== true) return;
      await new Promise<void>((resolve) => {
        closing.close(() => resolve());
        closing.closeAllConnections();
      });
    },
  };
}

/**
 * Milliseconds for which an answer of the database is reused: two gauges of one query, and many clients, ask it
 * seldom.
 */
const FRESH_MS = 2000;

function remembered(
  env: Env,
  look: () => Promise<QueueState | undefined>,
): () => Promise<QueueState | undefined> {
  let latest: { readonly at: number; readonly state: Promise<QueueState | undefined> } | undefined;
  return async () => {
    const now = env.now();
    if (latest === undefined || Math.abs(now - latest.at) > FRESH_MS) latest = { at: now, state: look() };
    return await latest.state;
  };
}
