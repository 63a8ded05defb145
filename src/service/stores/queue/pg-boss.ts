import { sql } from 'kysely';
import { PgBoss, type Db } from 'pg-boss';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Database } from '../../platform/database/database.ts';
import { codeOf, reasonOf } from '../../platform/database/failures.ts';
import type { Meta } from '../metadata/database.ts';
import { databaseClock, databaseNow } from '../metadata/timestamp.ts';
import type { JobRow, QueueName } from '../metadata/tables.ts';
import { inTurn } from '../metadata/transaction.ts';
import { startTurn, type Lease } from '../metadata/leases.ts';
import type { Dispatch, TicketName } from './dispatch.ts';
import { createLookout, type Lookout } from './lookout.ts';
import type { OpenedQueue } from './open.ts';
import { createQueue } from './queue.ts';
import { runTickets } from './run-tickets.ts';
import { within } from './within.ts';

interface Options {
  readonly database: Database;
  readonly meta: Meta;
  readonly env: Env;
  readonly log: Log;
}

/**
 * The queue of a service over PostgreSQL: pg-boss, in a schema of its own beside that of the service.
 *
 * A ticket says under which key there is work, and the oldest job of that key is what is done under it. The transaction
 * that inserts a job sees to it that a ticket of its key waits, and the one that ends a job that a ticket waits for the
 * jobs behind it: one for each key, however many jobs wait, as all that wait are looked at to give out the next. Tickets
 * of one key are given out one after another (`key_strict_fifo`). A ticket is taken, deleted and put back in the transaction that changes the row of the job, so
 * neither is ever there without the other. Whether a worker is alive is for the lease in the row to say: heartbeats of
 * pg-boss and its supervision, which work in steps of ten seconds and more, are not used.
 */
export async function openSharedQueue({ database, meta, env, log }: Options): Promise<OpenedQueue> {
  const boss = await startBoss(database, log);
  await compareClocks(meta, env, log);
  const lookout = createLookout(database.pool, schemaOf(database), log);
  const dispatch = ticketDispatch({ boss, meta, env, lookout, repair, schema: schemaOf(database) });
  return {
    queue: createQueue(meta, env, dispatch),
    async close() {
      await lookout.close();
      await boss.stop({ graceful: false, close: false });
    },
  };

  async function repair(): Promise<void> {
    const tickets = sql.table(`${schemaOf(database)}.job`);
    const without = meta
      .selectFrom('jobs as j')
      .selectAll()
      .where('j.status', '=', 'waiting')
      .where(
        sql<boolean>`not exists (select from ${tickets} t where t.name = j.queue and t.singleton_key = coalesce(j.lock_key, 'job ' || j.id))`,
      );
    for (const job of await without.orderBy('j.id').execute()) {
      log.warn('A job that waits was not in the queue, and is put there again', { job: job.id });
      await inTurn(meta, [], async (tx) => await send(boss, tx, job));
    }
    const lost = sql<{
      id: string;
      name: string;
    }>`select t.id, t.name from ${tickets} t where t.state = 'active'
      and not exists (select from ${sql.table(`${database.schema}.jobs`)} j where j.status = 'processing' and j.ticket = t.id::text)`;
    for (const { id, name } of (await lost.execute(meta)).rows) await boss.deleteJob(name, id);
  }
}

/** A clock that is further off than that is told of. */
const CLOCK_MS = 30_000;

/** Turns are counted in the time of the database; dates of rows and files are that of this machine. */
async function compareClocks(meta: Meta, env: Env, log: Log): Promise<void> {
  const offMs = env.now() - (await databaseNow(meta));
  if (Math.abs(offMs) > CLOCK_MS)
    log.warn('The clock of this machine is not that of the database: set one of them right', {
      secondsOff: Math.round(offMs / 1000),
    });
}

/** Where pg-boss has its tables. */
const schemaOf = ({ schema }: Database): string => `${schema}_queue`;

async function startBoss(database: Database, log: Log): Promise<PgBoss> {
  const { pool } = database;
  const schema = schemaOf(database);
  const db: Db = { executeSql: async (text, values) => await pool.query(text, values) };
  const found = await pool.query('select 1 from pg_namespace where nspname = $1', [schema]);
  const boss = new PgBoss({
    db,
    schema,
    createSchema: found.rows.length === 0,
    supervise: false,
    schedule: false,
    registerInstance: false,
    useListenNotify: false,
    openTelemetry: { enabled: false },
  });
  boss.on('error', (error) => log.warn('The queue of jobs is away', { detail: reasonOf(error) }));
  await boss.start({ attempts: 3 });
  const made = new Set((await boss.getQueues(Object.keys(QUEUES))).map(({ name }) => name));
  for (const [name, options] of Object.entries(QUEUES))
    if (!made.has(name)) await boss.createQueue(name, options);
  return boss;
}

/** How often a ticket may be put back: the row of its job says when it is enough. */
const MAX_INTEGER = 2_147_483_647;

const KEPT = {
  retryLimit: MAX_INTEGER,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 10,
  // Nothing looks for what is too old; were it done by hand, this is as long as it may be.
  expireInSeconds: 24 * 3600,
  retentionSeconds: MAX_INTEGER,
} as const;

const QUEUES = {
  storage: { ...KEPT, policy: 'key_strict_fifo' },
  upkeep: { ...KEPT, policy: 'key_strict_fifo' },
  // Which run is next their rows say, so a ticket may be one too many.
  runs: KEPT,
  schedules: KEPT,
} as const satisfies Record<TicketName, object>;

/** What a ticket says: the key, and the job where that has none. */
interface Ticket {
  readonly lockKey: string | null;
  readonly job: number;
}

const keyOf = ({ lock_key, id }: JobRow): string => lock_key ?? `job ${id}`;

/** Sees to it that a ticket of the job's key waits; one that does is locked, so it stays until the transaction ends. */
async function send(boss: PgBoss, tx: Meta, job: JobRow): Promise<void> {
  const ticket: Ticket = { lockKey: job.lock_key, job: job.id };
  const options = { singletonKey: keyOf(job), db: within(tx) };
  if (job.lock_key === null) await boss.send(job.queue, ticket, options);
  else await boss.upsert(job.queue, ticket, options);
}

interface Tickets {
  readonly boss: PgBoss;
  readonly meta: Meta;
  readonly env: Env;
  readonly lookout: Lookout;
  readonly schema: string;
  readonly repair: () => Promise<void>;
}

function ticketDispatch({ boss, meta, env, lookout, repair, schema }: Tickets): Dispatch {
  return {
    watch: (name, wake) => lookout.watch(name, wake),
    repair,
    runs: runTickets({ boss, meta, env, schema }),
    // It is told by the lookout.
    pace: { leaseMs: 10_000, pollMs: 5000, checkMs: 1000, maxInterruptions: 5, maxRetries: 60 },
    clock: databaseClock,
    add: async (tx, job) => await send(boss, tx, job),
    async take(queue, lease, count) {
      for (;;) {
        const { tickets, jobs } = await takeTickets(queue, lease, count);
        // Tickets of jobs that were cancelled, or that another ticket has led to.
        if (jobs.length > 0 || tickets === 0) return jobs;
      }
    },
    async end(tx, job) {
      const { queue, ticket } = job;
      if (ticket !== null) await boss.deleteJob(queue, ticket, { db: within(tx) });
      if (job.lock_key !== null && (await isAwaited(tx, job))) await send(boss, tx, job);
    },
    async putBack(tx, job, reason) {
      const { queue, ticket } = job;
      const db = within(tx);
      const [known] = ticket === null ? [] : await boss.findJobs(queue, { id: ticket, db });
      if (known === undefined) await send(boss, tx, job);
      // It waits for a while, and keeps its key from others meanwhile.
      else if (reason === 'retried') await boss.fail(queue, known.id, null, { db });
      else {
        await boss.deleteJob(queue, known.id, { db });
        await send(boss, tx, job);
      }
    },
    async unlocked(_, ids, work) {
      if (ids.length === 0) return;
      await inTurn(meta, [], async (tx) => {
        const free = tx.selectFrom('jobs').select('id').where('id', 'in', ids).orderBy('id');
        const rows = await free.forUpdate().skipLocked().execute();
        if (rows.length > 0)
          await work(
            tx,
            rows.map(({ id }) => id),
          );
      });
    },
  };

  async function takeTickets(
    queue: QueueName,
    lease: Lease,
    count: number,
  ): Promise<{ tickets: number; jobs: JobRow[] }> {
    try {
      return await inTurn(meta, [], async (tx) => {
        const db = within(tx);
        const tickets = await boss.fetch<Ticket | string>(queue, { batchSize: count, db });
        const jobs: JobRow[] = [];
        for (const { id, data } of tickets) {
          // The database's JSON comes as it is written.
          const ticket = (typeof data === 'string' ? JSON.parse(data) : data) as Ticket;
          const found = await findWork(tx, queue, ticket);
          const job = typeof found === 'number' ? await startTurn(tx, found, lease, id) : undefined;
          if (job !== undefined) jobs.push(job);
          else if (found === undefined) await boss.deleteJob(queue, id, { db });
          // Busy, or cancelled in this moment: a later look says what is next.
          else await boss.fail(queue, id, null, { db });
        }
        return { tickets: tickets.length, jobs };
      });
    } catch (error) {
      // Two of one key were given out in the same moment, and the index of pg-boss kept the second back.
      if (!TWO_AT_ONCE.test(codeOf(error))) throw error;
      return { tickets: 0, jobs: [] };
    }
  }
}

/** SQLSTATEs: a unique key that is taken, and what follows in the same transaction. */
const TWO_AT_ONCE = /^(?:23505|25P02)$/;

/** Whether a job waits under the key of one that ends. One that is inserted in this moment has a ticket of its own. */
async function isAwaited(tx: Meta, { queue, lock_key }: JobRow): Promise<boolean> {
  const waiting = tx
    .selectFrom('jobs')
    .select('id')
    .where('queue', '=', queue)
    .where('status', '=', 'waiting');
  return (await waiting.where('lock_key', '=', lock_key).limit(1).executeTakeFirst()) !== undefined;
}

/** The oldest job that waits under the key of a ticket; `busy` while another turn of that key is not over. */
async function findWork(tx: Meta, queue: QueueName, ticket: Ticket): Promise<number | 'busy' | undefined> {
  const unfinished = tx
    .selectFrom('jobs')
    .select(['id', 'status'])
    .where('queue', '=', queue)
    .where('status', 'in', ['waiting', 'processing']);
  const mine =
    ticket.lockKey === null
      ? unfinished.where('id', '=', ticket.job)
      : unfinished.where('lock_key', '=', ticket.lockKey);
  // `processing` comes before `waiting`, and of equal ones the oldest.
  const first = await mine.orderBy('status').orderBy('id').limit(1).executeTakeFirst();
  return first?.status === 'processing' ? 'busy' : first?.id;
}
