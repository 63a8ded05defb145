import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Values that are read when the metrics are requested. */
export interface Gauges {
  /** State of the queue in the database, for all processes together. Undefined when it does not answer. */
  queue(): Promise<QueueState | undefined>;
  /** Connections of this process with the database; undefined where there is no pool. */
  databaseConnections(): DatabaseConnections | undefined;
  /** Requests that are being answered by this process. */
  requestsInProgress(): number;
  /** Tells whether this process would answer 200 at `/ready`. */
  isReady(): Promise<boolean>;
}

export interface QueueState {
  readonly waiting: number;
  readonly running: number;
  /** Age of the longest waiting job; 0 when none waits. */
  readonly oldestWaitingSeconds: number;
}

export interface DatabaseConnections {
  readonly used: number;
  readonly idle: number;
  /** Requests for a connection that wait for one. */
  readonly waiting: number;
}

export interface Exposition {
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

const QUICK = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const LONG = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

/** Metrics in a registry of their own, so that several services in one process count for themselves. */
export function createPrometheus(): { readonly metrics: Metrics; expose(gauges: Gauges): Exposition } {
  const register = new Registry();
  const registers = [register];
  const requests = new Counter({
    name: 'gex_http_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'gex_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: QUICK,
    registers,
  });
  const refusals = new Counter({
    name: 'gex_http_requests_refused_total',
    help: 'Requests that were turned away with 429 or 503, by the bound that they met.',
    labelNames: ['reason'],
    registers,
  });
  const jobSeconds = new Histogram({
    name: 'gex_job_duration_seconds',
    help: 'Time that jobs took, without their time in the queue.',
    labelNames: ['operation', 'status'],
    buckets: LONG,
    registers,
  });
  const moved = {
    import: movedCounters('import', 'as CSV, not packed', registers),
    export: movedCounters('export', 'as they were written', registers),
  };
  const runSeconds = new Histogram({
    name: 'gex_run_duration_seconds',
    help: 'Time that runs of configurations took.',
    labelNames: ['status', 'verdict'],
    buckets: LONG,
    registers,
  });
  const givenUp = new Counter({
    name: 'gex_runs_given_up_total',
    help: 'Runs that were interrupted so often that they are not tried again.',
    registers,
  });
  const alerts = new Counter({
    name: 'gex_alerts_total',
    help: 'Messages of alerts that were written, reminders and recoveries among them.',
    labelNames: ['event', 'severity'],
    registers,
  });
  const removals = new Counter({
    name: 'gex_upkeep_removed_total',
    help: 'What was removed because its time was over.',
    labelNames: ['kind'],
    registers,
  });
  const metrics: Metrics = {
    request({ method, route, status, seconds }) {
      requests.inc({ method, route, status });
      requestSeconds.observe({ method, route }, seconds);
    },
    refused: (reason) => refusals.inc({ reason }),
    job: ({ operation, status, seconds }) => jobSeconds.observe({ operation, status }, seconds),
    moved({ direction, rows, bytes }) {
      moved[direction].done.inc();
      moved[direction].rows.inc(rows);
      moved[direction].bytes.inc(bytes);
    },
    run: ({ status, verdict, seconds }) => runSeconds.observe({ status, verdict }, seconds),
    runGivenUp: () => givenUp.inc(),
    alert: ({ event, severity }) => alerts.inc({ event, severity }),
    removed: (kind, count) => removals.inc({ kind }, count),
  };
  return {
    metrics,
    expose(gauges) {
      for (const gauge of gaugesOf(gauges)) register.registerMetric(gauge);
      let hasProcess = false;
      return {
        contentType: register.contentType,
        async text() {
          // Process metrics have a permanent cost, so they begin with the first request for them.
          if (!hasProcess) collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 50 });
          hasProcess = true;
          return await register.metrics();
        },
      };
    },
  };
}

function movedCounters(
  direction: string,
  bytes: string,
  registers: Registry[],
): Record<'bytes' | 'done' | 'rows', Counter> {
  const counter = (name: string, help: string): Counter =>
    new Counter({ name: `gex_${name}_total`, help, registers });
  return {
    done: counter(`${direction}s`, `Every ${direction} of a table that was done.`),
    rows: counter(`${direction}_rows`, `Rows of these ${direction}s.`),
    bytes: counter(`${direction}_bytes`, `Bytes of these rows, ${bytes}.`),
  };
}

/** They belong to no registry yet. */
function gaugesOf(gauges: Gauges): readonly Gauge[] {
  const registers: Registry[] = [];
  return [
    new Gauge<string>({
      name: 'gex_ready',
      help: '1 when this process answers 200 at /ready, else 0.',
      registers,
      async collect() {
        this.set((await gauges.isReady()) ? 1 : 0);
      },
    }),
    new Gauge<string>({
      name: 'gex_http_requests_in_progress',
      help: 'Requests that are being answered.',
      registers,
      collect() {
        this.set(gauges.requestsInProgress());
      },
    }),
    new Gauge<string>({
      name: 'gex_jobs',
      help: 'Jobs in the queue of all processes, waiting and running.',
      labelNames: ['status'],
      registers,
      async collect() {
        const queue = await gauges.queue();
        // Earlier numbers would look like those of now.
        this.reset();
        if (queue === undefined) return;
        this.set({ status: 'waiting' }, queue.waiting);
        this.set({ status: 'running' }, queue.running);
      },
    }),
    new Gauge<string>({
      name: 'gex_jobs_oldest_waiting_seconds',
      help: 'How long the job that waits longest has been waiting; 0 when none waits.',
      registers,
      async collect() {
        const queue = await gauges.queue();
        if (queue === undefined) this.remove();
        else this.set(queue.oldestWaitingSeconds);
      },
    }),
    new Gauge<string>({
      name: 'gex_database_connections',
      help: 'Connections of this process with PostgreSQL, and requests that wait for one.',
      labelNames: ['state'],
      registers,
      collect() {
        const pool = gauges.databaseConnections();
        if (pool === undefined) return;
        this.set({ state: 'used' }, pool.used);
        this.set({ state: 'idle' }, pool.idle);
        this.set({ state: 'waiting' }, pool.waiting);
      },
    }),
  ];
}
