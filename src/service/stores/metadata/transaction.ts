import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, type Transaction } from 'kysely';
import { isConflict } from '../../platform/database/failures.ts';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';
import { configurationOwner, type MetadataOwner } from './metadata.ts';
import type { ConfigurationKey, MetadataTables } from './tables.ts';

/** In the order in which a transaction waits for them: two that want several never wait for each other. */
const KINDS = [
  'project',
  'tokens',
  'branches',
  'branch',
  'catalogue',
  'table',
  'configuration',
  'file',
  'run',
  'triggers',
  'alert',
  'counter',
  'jobs',
] as const;

/** Lock key of a transaction: transactions with the same key run one after the other. */
export interface Thing {
  readonly kind: (typeof KINDS)[number];
  readonly id?: string;
  /** Beside others that share it, and apart from those that have it alone. */
  readonly isShared?: true;
}

export const PROJECT: Thing = { kind: 'project' };
export const TOKENS: Thing = { kind: 'tokens' };
/** Which branches there are, with their names. */
export const BRANCHES: Thing = { kind: 'branches' };
export const TRIGGERS: Thing = { kind: 'triggers' };

/** An alert, with what it sees to be wrong and its messages. */
export const alertOf = (id: number): Thing => ({ kind: 'alert', id: String(id) });

/**
 * Returns the lock key for the jobs under a key: they become visible in the order of their numbers. Jobs without a key
 * have no order.
 */
export const jobsOf = (lockKey: string | undefined): Thing[] =>
  lockKey === undefined ? [] : [{ kind: 'jobs', id: lockKey }];

/** Returns the lock key for all configurations of a branch, to copy or remove them. */
export const branchOf = (id: number): Thing => ({ kind: 'branch', id: String(id) });

/** The buckets and tables of a branch, as the catalogue has them, with their metadata and that of the branch. */
export const catalogueOf = (branch: number): Thing => ({ kind: 'catalogue', id: String(branch) });

/** One table of a branch as the catalogue has it, with its aliases, whatever becomes of other tables meanwhile. */
export const tableOf = (branch: number, id: string): Thing[] => [
  { ...catalogueOf(branch), isShared: true },
  { kind: 'table', id: `${branch}/${id}` },
];

export const fileOf = (id: number): Thing => ({ kind: 'file', id: String(id) });

/** A run of a configuration, with its token. */
export const runOf = (id: number): Thing => ({ kind: 'run', id: String(id) });

/** Configurations with their rows, versions and metadata. */
export const configurationsOf = (...keys: readonly ConfigurationKey[]): Thing[] => [
  ...keys.map(({ branch_id }): Thing => ({ ...branchOf(branch_id), isShared: true })),
  ...keys.map((key): Thing => ({ kind: 'configuration', id: `${key.branch_id}/${configurationOwner(key)}` })),
];

/** Returns the lock key for the owner of metadata. */
export const ownerOf = ({ branch_id, scope, owner }: MetadataOwner): Thing =>
  scope === 'configuration' ? { kind: 'configuration', id: `${branch_id}/${owner}` } : catalogueOf(branch_id);

/**
 * Runs work in a transaction, as {@link withLocks} does. A request to the API has one of its own: by it, whatever the
 * request changes is kept together with its `Idempotency-Key`.
 *
 * @param madeOf names the job or file by which a repeated request is answered; by default it is answered from what
 * the transaction returns
 */
export type Transact = <T>(
  things: readonly Thing[],
  work: (tx: Transaction<MetadataTables>) => Promise<T>,
  madeOf?: (result: T) => { readonly jobId: number } | { readonly fileId: number },
) => Promise<T>;

/** Returns the transactions of work that no request is repeated for. */
export const transactionsOf =
  (meta: Meta): Transact =>
  async (things, work) =>
    await withLocks(meta, things, work);

/**
 * Runs work in a transaction that holds lock keys, so that nothing it has read changes before it writes.
 *
 * The keys name everything that the work reads and then writes, or writes because it did not find it; all are taken at
 * once. Other transactions with one of them wait, in any process. SQLite needs none: it runs all transactions one after
 * another. If two transactions conflict all the same, one runs again: so the work has no effect outside the database
 * that must not happen twice.
 *
 * @param things none, for what only writes, or reads nothing that others change
 */
export async function withLocks<T>(
  meta: Meta,
  things: readonly Thing[],
  work: (tx: Transaction<MetadataTables>) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await meta.transaction().execute(async (tx) => {
        await waitFor(tx, things);
        return await work(tx);
      });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isConflict(error)) throw error;
      await sleep(attempt * attempt * 10);
    }
  }
}

const MAX_ATTEMPTS = 5;

/** Waits for all other holders of these lock keys; SQLite runs one transaction at a time anyway. */
async function waitFor(tx: Meta, things: readonly Thing[]): Promise<void> {
  const schema = postgresSchema(tx);
  if (schema === undefined || things.length === 0) return;
  const named = new Map(things.map((thing) => [`${schema}: ${thing.kind} ${thing.id ?? ''}`, thing]));
  const sorted = [...named].toSorted(
    ([a, { kind }], [b, other]) => KINDS.indexOf(kind) - KINDS.indexOf(other.kind) || (a < b ? -1 : 1),
  );
  const calls = sorted.map(
    ([name, { isShared }]) => `pg_advisory_xact_lock${isShared === true ? '_shared' : ''}(${numberOf(name)})`,
  );
  // Without a parameter: it goes to the database together with the `begin`.
  await tx.executeQuery(CompiledQuery.raw(`select ${calls.join(', ')}`));
}

/** 64 bits: two names that have the same wait for each other without need. */
function numberOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE();
}
