import { sql } from 'kysely';
import { currentRequestId } from '../../platform/health/correlation.ts';
import type { Env } from '../../../lib/env.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import { keyOf } from './configuration-key.ts';
import type { Author, ConfigurationKey, ConfigurationVersionRow, RunRow } from './tables.ts';
import type { RunStatus } from '../../../storage/protocol/run.ts';

/** Parameters of a new run. */
export interface AskedOfRun {
  readonly rows?: readonly string[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly restart?: boolean | undefined;
}

export interface NewRun {
  readonly configuration: ConfigurationKey;
  readonly asked: AskedOfRun;
  /** The version that is there now: the run goes by it, whatever is changed meanwhile. */
  readonly version?: Pick<ConfigurationVersionRow, 'identifier' | 'version'> | undefined;
  /** Ids up to which the requester answers for changes of others; default: the id of the run. Null: for none. */
  readonly approvedId?: number | null | undefined;
  /** The schedule that asks for it, and its time as ISO text. */
  readonly schedule?: { readonly id: number; readonly time: string };
  readonly author: Author;
}

/** Writes down a run that waits for a runner. Must run in a transaction. */
export async function insertRun(tx: Meta, env: Env, run: NewRun): Promise<RunRow> {
  const { configuration, schedule, version } = run;
  const id = await nextId(tx);
  const row: RunRow = {
    id,
    ...keyOf(configuration),
    lock_key: lockKeyOf(configuration),
    status: 'waiting',
    asked: JSON.stringify(run.asked),
    version: version?.version ?? null,
    version_identifier: version?.identifier ?? null,
    approved_id: run.approvedId === undefined ? id : run.approvedId,
    schedule_id: schedule?.id ?? null,
    occurrence: schedule === undefined ? null : `${schedule.id}@${schedule.time}`,
    created: isoTime(env.now()),
    started: null,
    ended: null,
    cancel_asked: null,
    attempt: 0,
    put_offs: 0,
    not_before: null,
    runner: null,
    beat: 0,
    fencing: 0,
    token_id: null,
    verdict: null,
    exit_code: null,
    error: null,
    report: null,
    spent: null,
    log_lines: 0,
    log_bytes: 0,
    request_id: currentRequestId(),
    ...run.author,
  };
  await tx.insertInto('runs').values(row).execute();
  return row;
}

/** Names a configuration in the keys of its runs. */
export function lockKeyOf({ branch_id, component_id, configuration_id }: ConfigurationKey): string {
  return JSON.stringify([branch_id, component_id, configuration_id]);
}

export interface RunFilter {
  readonly branchId: number;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  readonly statuses?: readonly RunStatus[] | undefined;
  /** Only those of these components; all when undefined. */
  readonly components?: readonly string[] | undefined;
  /** Only the last run of each configuration, of those with the statuses. */
  readonly isLast?: boolean | undefined;
  /** Only those that failed, or may not have everything. */
  readonly isBad?: boolean | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A run without what it gave, which may be long. */
export type BriefRun = Omit<RunRow, 'report' | 'spent'>;

/** Runs, the newest first. */
export async function listRuns(meta: Meta, filter: RunFilter): Promise<BriefRun[]> {
  let query = meta.selectFrom('runs').select(BRIEF).where('branch_id', '=', filter.branchId);
  if (filter.component !== undefined) query = query.where('component_id', '=', filter.component);
  if (filter.components !== undefined) query = query.where('component_id', 'in', filter.components);
  if (filter.configuration !== undefined) query = query.where('configuration_id', '=', filter.configuration);
  const { statuses } = filter;
  if (statuses !== undefined) query = query.where('status', 'in', statuses);
  if (filter.isBad === true)
    query = query.where((is) =>
      is.or([is('status', '=', 'error'), is('verdict', 'in', ['cut', 'doubtful'])]),
    );
  if (filter.isLast === true)
    query = query.where((where) => {
      let later = where
        .selectFrom('runs as later')
        .select('later.id')
        .whereRef('later.lock_key', '=', 'runs.lock_key')
        .whereRef('later.id', '>', 'runs.id');
      if (statuses !== undefined) later = later.where('later.status', 'in', statuses);
      return where.not(where.exists(later));
    });
  return await query.orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute();
}

const BRIEF = [
  'id',
  'branch_id',
  'component_id',
  'configuration_id',
  'lock_key',
  'status',
  'asked',
  'version',
  'version_identifier',
  'approved_id',
  'schedule_id',
  'occurrence',
  'created',
  'started',
  'ended',
  'cancel_asked',
  'attempt',
  'put_offs',
  'not_before',
  'runner',
  'beat',
  'fencing',
  'token_id',
  'verdict',
  'exit_code',
  'error',
  'log_lines',
  'log_bytes',
  'request_id',
  'creator_id',
  'creator_description',
] as const satisfies readonly (keyof RunRow)[];

export async function findRun(meta: Meta, id: number): Promise<RunRow | undefined> {
  return await meta.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A run of the configuration that has not ended, if there is one. */
export async function findUnfinished(meta: Meta, key: ConfigurationKey): Promise<number | undefined> {
  const found = await meta
    .selectFrom('runs')
    .select('id')
    .where('lock_key', '=', lockKeyOf(key))
    .where('status', 'in', UNFINISHED)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return found?.id;
}

const UNFINISHED: readonly RunStatus[] = ['waiting', 'processing'];

/** Runs that some runner is at work on. */
export async function listProcessing(meta: Meta): Promise<BriefRun[]> {
  return await meta.selectFrom('runs').select(BRIEF).where('status', '=', 'processing').execute();
}

/** Returns those of some ids that are of runs of a branch. */
export async function listRunIds(
  meta: Meta,
  branchId: number,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length === 0) return [];
  const found = await meta
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', [...new Set(ids)])
    .where('branch_id', '=', branchId)
    .execute();
  return found.map(({ id }) => id);
}

/** Counts the runs of a branch that ended from a day on, by day, status and verdict. */
export async function countByDay(
  meta: Meta,
  filter: Pick<RunFilter, 'branchId' | 'component' | 'components' | 'configuration'> & {
    readonly since: string;
  },
): Promise<readonly { day: string; status: RunStatus; verdict: string | null; runs: number }[]> {
  const day = sql<string>`substr(ended, 1, 10)`;
  // An expression keeps SQLite from reading all runs of the branch by the index of configurations: it takes that of ends.
  const branch = filter.configuration === undefined ? sql<number>`+branch_id` : sql.ref<number>('branch_id');
  let query = meta
    .selectFrom('runs')
    .select([day.as('day'), 'status', 'verdict', ({ fn }) => fn.countAll<number | string>().as('runs')])
    .where(branch, '=', filter.branchId)
    .where('ended', '>=', filter.since);
  if (filter.component !== undefined) query = query.where('component_id', '=', filter.component);
  if (filter.configuration !== undefined) query = query.where('configuration_id', '=', filter.configuration);
  if (filter.components !== undefined) query = query.where('component_id', 'in', filter.components);
  const counted = await query.groupBy([day, 'status', 'verdict']).execute();
  return counted.map(({ runs, ...kind }) => ({ ...kind, runs: Number(runs) }));
}
