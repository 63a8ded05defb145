// A worker in a process of its own: `node worker.child.ts '{"url": …}'`. It says `ready`, and of each job that it
// begins and ends a line; SIGTERM stops it as it stops a service.
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { openDatabase } from '../../../../src/service/platform/database/database.ts';
import { fenceOf, markOf, type Operation } from '../../../../src/service/domain/jobs/operations/operation.ts';
import { createQueue } from '../../../../src/service/stores/queue/queue.ts';
import { createWorker } from '../../../../src/service/domain/jobs/worker.ts';
import { createPostgresEngine } from '../../../../src/service/stores/tables/postgres/engine.ts';
import { LeaseLost } from '../../../../src/service/stores/queue/endings.ts';
import { openMeta, type Meta } from '../../../../src/service/stores/metadata/database.ts';
import { contextOf } from './support.ts';

export interface ProcessOptions {
  readonly url: string;
  readonly concurrency?: number;
  readonly graceMs?: number;
  readonly leaseMs?: number;
  /** How far the clock of its machine is off. */
  readonly aheadMs?: number;
  /** How long `slow` takes. */
  readonly slowMs?: number;
}

const { positionals } = parseArgs({ allowPositionals: true });
const options = JSON.parse(positionals[0] ?? '{}') as ProcessOptions;
const { aheadMs = 0, slowMs = 0, graceMs = 10_000, concurrency = 4, leaseMs } = options;
const env = { ...systemEnv, now: () => Date.now() + aheadMs };
const database = await openDatabase({ url: options.url, poolSize: 6 }, silentLog);
const meta = await openMeta(database);
const queue = createQueue(meta, env);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes its row in the transaction that ends the job. */
const quick: Operation = async (job) => {
  const commit = async (tx: Meta): Promise<void> => await writeRow(tx, job.id);
  return await Promise.resolve({ results: null, things: [], commit });
};

const engine = createPostgresEngine({ pool: database.pool, schema: database.schema, log: silentLog });
await engine.open();

/** Adds rows to a table, of a file whose second half comes late. */
const load: Operation = async (job) => {
  async function* file(): AsyncGenerator<Buffer> {
    yield Buffer.from(`id\n${job.id}.1\n`);
    say(`began ${job.id}`);
    await systemEnv.sleep(slowMs);
    yield Buffer.from(`${job.id}.2\n`);
  }
  async function* slices(): AsyncGenerator<AsyncGenerator<Buffer>> {
    await Promise.resolve();
    yield file();
  }
  const { fence } = fenceOf(job);
  const request = { importedAt: new Date(), incremental: true, mark: markOf(job), fence };
  try {
    await engine.import({ bucket: '1/in.c-main', table: 'rows' }, request, slices());
  } catch (error) {
    say(`${error instanceof LeaseLost ? 'refused' : String(error)} ${job.id}`);
    throw error;
  }
  say(`wrote ${job.id}`);
  return { results: null };
};

/** Changes a table in a transaction of its own before the end of the job, as imports do; it listens to nobody. */
const slow: Operation = async (job) => {
  say(`began ${job.id}`);
  await systemEnv.sleep(slowMs);
  await meta.transaction().execute(async (tx) => {
    const held = tx.selectFrom('jobs').select('id').forUpdate();
    const { id, fencing, worker: name } = job;
    const turn = { id, fencing, worker: name, status: 'processing' as const };
    await writeRow(tx, job.id);
    if ((await held.where((where) => where.and(turn)).executeTakeFirst()) === undefined) {
      say(`refused ${job.id}`);
      throw new Error('The job is another worker’s.');
    }
  });
  say(`wrote ${job.id}`);
  return { results: null };
};

async function writeRow(tx: Meta, id: number): Promise<void> {
  await sql`insert into public.done (job, process) values (${id}, ${process.pid})`.execute(tx);
}

const context = await contextOf({ meta, queue }, env);
const worker = createWorker(() => context, {
  operations: { quick, slow, load },
  concurrency,
  ...(leaseMs === undefined ? {} : { leaseMs }),
});
await worker.start();
say('ready');

process.once('SIGTERM', () => {
  void (async () => {
    await worker.stop(graceMs);
    await meta.destroy();
    await database.close();
    process.exit(0);
  })();
});
