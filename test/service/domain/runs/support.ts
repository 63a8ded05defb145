import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runnerPart, type RunnerPartOptions } from '../../../../src/service/start/runner.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import type { ServiceOptions } from '../../../../src/service/start/service-options.ts';
import { COMPILE_CACHE } from '../../../cli/support.ts';
import { forgetDatabase } from '../../database.ts';
import { startService, type Running } from '../../harness.ts';
import { MAIN } from '../../../support/command.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

export interface ShownRun {
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly verdict: string | null;
  readonly exitCode: number | null;
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string } | null;
  readonly log: { readonly lines: number };
  readonly rows?: readonly {
    readonly id?: string;
    readonly verdict: string;
    readonly rows: number;
    readonly tables: readonly {
      readonly name: string;
      readonly rows: number;
      readonly destination: string;
    }[];
  }[];
}

export interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly message: string;
}

/** A service, wherever it runs. */
type Reachable = Pick<Running, 'addresses' | 'call' | 'dir' | 'token'>;

export type World = Asked & Reachable;

/** Actions of the tests on the runs of a service. */
interface Asked {
  /** Makes a configuration over an API, and gives its id. */
  configure(id: string, configuration: unknown, more?: object): Promise<string>;
  start(id: string, more?: object, headers?: Record<string, string>): Promise<ShownRun>;
  show(id: string): Promise<ShownRun>;
  /** Waits until it has ended. */
  ended(id: string): Promise<ShownRun>;
  log(id: string): Promise<readonly LogLine[]>;
  /** The lines of a table, without its header, sorted. */
  rows(table: string): Promise<readonly string[]>;
}

/** A service over a folder of its own, with a runner, until the end of the test. */
export async function startWorld({
  runner = {},
  ...options
}: Partial<ServiceOptions> & { readonly runner?: Partial<RunnerPartOptions> } = {}): Promise<
  Running & World
> {
  const dir = options.dir ?? (await mkdtemp(path.join(tmpdir(), 'runs-')));
  const running = await startService({
    ...options,
    dir,
    parts: [
      dataPart,
      runnerPart({
        command: [process.execPath, MAIN],
        concurrency: 3,
        pollMs: 100,
        checkMs: 200,
        ...runner,
      }),
    ],
  });
  onTestFinished(async () => {
    await running.service.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    await forgetDatabase(dir);
  });
  return worldOf(running);
}

export function worldOf<Reached extends Reachable>(running: Reached): Reached & Asked {
  const call: Running['call'] = async (...request) => await running.call(...request);
  const world: Asked = {
    async configure(id, configuration, more = {}) {
      const body = { configurationId: id, name: id, configuration, ...more };
      const { status, text } = await call('POST', 'components/ex-generic-v2/configs', body);
      expect({ status, text: status === 201 ? '' : text }).toEqual({ status: 201, text: '' });
      return id;
    },
    async start(id, more = {}, headers = {}) {
      const body = { component: 'ex-generic-v2', configuration: id, ...more };
      const { status, body: run, text } = await call('POST', 'runs', body, headers);
      expect({ status, text: status === 201 ? '' : text }).toEqual({ status: 201, text: '' });
      return run as ShownRun;
    },
    show: async (id) => (await call('GET', `runs/${id}`)).body as ShownRun,
    async ended(id) {
      let run = await world.show(id);
      await expect
        .poll(async () => (run = await world.show(id)).status, { timeout: 100_000, interval: 100 })
        .not.toMatch(/waiting|processing/);
      return run;
    },
    log: async (id) =>
      ((await call('GET', `runs/${id}/log?limit=10000`)).body as { lines: readonly LogLine[] }).lines,
    async rows(table) {
      const { text } = await call('GET', `tables/${table}/data-preview?format=rfc&limit=1000`);
      return text.trim().split('\n').slice(1).toSorted();
    },
  };
  return { ...running, ...world };
}

/** A configuration with one job over an API. */
export const books = (url: string, config: object = {}): object => ({
  parameters: {
    api: { baseUrl: url },
    config: { outputBucket: 'library', jobs: [{ endpoint: 'books' }], ...config },
  },
});
