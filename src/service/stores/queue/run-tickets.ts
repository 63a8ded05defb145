import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import { databaseNow } from '../metadata/timestamp.ts';
import { isTaken, takeRunOf } from '../metadata/run-leases.ts';
import type { RunRow } from '../metadata/tables.ts';
import { inTurn } from '../metadata/transaction.ts';
import type { Planned, RunDispatch } from './dispatch.ts';
import { within } from './within.ts';

interface Options {
  readonly boss: PgBoss;
  readonly meta: Meta;
  readonly env: Env;
  /** Where the tickets are. */
  readonly schema: string;
}

/** What a ticket of a run says: this configuration has one that may begin. */
interface RunTicket {
  readonly lockKey: string;
}

/**
 * Tickets of runs and schedules. They only lead to the rows: each is used up by whoever takes it, whatever it finds. One
 * too many finds nothing; one that is lost is made up for by those who look at the rows now and then.
 */
export function runTickets({ boss, meta, env, schema }: Options): RunDispatch {
  return {
    pace: { pollMs: 10_000, scheduleMs: 60_000 },
    async tell(tx, { lock_key, not_before }) {
      const ticket: RunTicket = { lockKey: lock_key };
      const at = not_before === null ? {} : { startAfter: new Date(not_before) };
      await boss.send('runs', ticket, { ...at, db: within(tx) });
    },
    async take(runner) {
      for (;;) {
        const taken = await takeOne(runner);
        if (taken !== 'nothing') return taken;
      }
    },
    plan,
    async takeLook() {
      return await inTurn(meta, [], async (tx) => {
        const db = within(tx);
        const tickets = await boss.fetch('schedules', { batchSize: LOOKS_AT_ONCE, db });
        const ids = tickets.map(({ id }) => id);
        if (ids.length > 0) await boss.deleteJob('schedules', ids, { db });
        return ids.length > 0;
      });
    },
    async planLost() {
      const lost = meta
        .selectFrom('schedules as s')
        .select(['s.id', 's.next_occurrence'])
        .where('s.next_occurrence', 'is not', null)
        .where(
          sql<boolean>`not exists (select from ${sql.table(`${schema}.job`)} t where t.name = 'schedules' and t.state < 'active'
            and t.singleton_key = 'schedule ' || s.id and t.start_after <= s.next_occurrence::timestamptz)`,
        );
      for (const schedule of await lost.execute())
        await inTurn(meta, [], async (tx) => await plan(tx, schedule));
    },
    now: async () => await databaseNow(meta),
  };

  /** One for each schedule: it moves with its next time. */
  async function plan(tx: Meta, { id, next_occurrence }: Planned): Promise<void> {
    // One that is left finds nothing to do.
    if (next_occurrence === null) return;
    const options = { singletonKey: `schedule ${id}`, startAfter: new Date(next_occurrence), db: within(tx) };
    await boss.upsert('schedules', { schedule: id }, options);
  }

  /** @returns undefined when there is no ticket, `nothing` when one led to nothing */
  async function takeOne(runner: string): Promise<RunRow | 'nothing' | undefined> {
    try {
      return await inTurn(meta, [], async (tx) => {
        const db = within(tx);
        const [ticket] = await boss.fetch<RunTicket | string>('runs', { batchSize: 1, db });
        if (ticket === undefined) return undefined;
        await boss.deleteJob('runs', ticket.id, { db });
        // The database's JSON comes as it is written.
        const { lockKey } = (
          typeof ticket.data === 'string' ? JSON.parse(ticket.data) : ticket.data
        ) as RunTicket;
        return (await takeRunOf(tx, lockKey, { runner, now: env.now() })) ?? 'nothing';
      });
    } catch (error) {
      // Another run of the configuration was taken at the same moment; the ticket is still there.
      if (isTaken(error)) return 'nothing';
      throw error;
    }
  }
}

const LOOKS_AT_ONCE = 100;
