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
  /** The run whose doubt is accepted: this one loads what it held back. */
  readonly accepts?: { readonly run: string; readonly because: string } | undefined;
}

/** Acceptance of the doubt of a run: by whom, and why. */
export interface Acceptance {
  readonly because: string;
  /** Absent where the configuration says it. */
  readonly creatorToken?: { readonly id: string; readonly description: string };
  /** The run that has loaded what was held back. */
  readonly run?: string;
}

/** Returns {@link Acceptance} as text. @param by undefined where the configuration says it */
export function acceptanceText(because: string, by: Author | undefined, run?: number): string {
  const acceptance: Acceptance = {
    because,
    ...(by === undefined
      ? {}
      : { creatorToken: { id: String(by.creator_id), description: by.creator_description } }),
    ...(run === undefined ? {} : { run: String(run) }),
  };
  return JSON.stringify(acceptance);
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
    accepted: null,
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
  /** Only those that failed, or may not have everything, and that nobody has accepted. */
  readonly isBad?: boolean | undefined;
  /** Only those that ended from this time on. */
  readonly since?: string | undefined;
  /** Only those that ended before this time. */
  readonly until?: string | undefined;
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
  if (filter.since !== undefined) query = query.where('ended', '>=', filter.since);
  if (filter.until !== undefined) query = query.where('ended', '<', filter.until);
  if (filter.isBad === true)
    query = query
      .where('accepted', 'is', null)
      .where((is) => is.or([is('status', '=', 'error'), is('verdict', 'in', ['cut', 'doubtful'])]));
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

/** The newest run of each configuration, however it stands, by its key. */
export async function newestRuns(
  meta: Meta,
  lockKeys: readonly string[],
): Promise<ReadonlyMap<string, BriefRun>> {
  if (lockKeys.length === 0) return new Map();
  const newest = meta
    .selectFrom('runs')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('lock_key', 'in', lockKeys)
    .groupBy('lock_key');
  const found = await meta.selectFrom('runs').select(BRIEF).where('id', 'in', newest).execute();
  return new Map(found.map((run) => [run.lock_key, run]));
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
  'accepted',
  'exit_code',
  'error',
  'log_lines',
  'log_bytes',
  'request_id',
  'creator_id',
  'creator_description',
] as const satisfies readonly (keyof RunRow)[];

/** Writes down that the doubt of a run is accepted. */
export async function acceptRun(tx: Meta, id: number, acceptance: string): Promise<void> {
  await tx.updateTable('runs').set({ accepted: acceptance }).where('id', '=', id).execute();
}

/** Returns the newest run of a configuration behind another one that a runner has begun, or that is to come. */
export async function findLater(
  meta: Meta,
  run: Pick<RunRow, 'id' | 'lock_key'>,
): Promise<number | undefined> {
  const found = await meta
    .selectFrom('runs')
    .select('id')
    .where('lock_key', '=', run.lock_key)
    .where('id', '>', run.id)
    .where((where) => where.or([where('attempt', '>', 0), where('status', 'in', UNFINISHED)]))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return found?.id;
}

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

/** 1 for a run whose doubt was accepted. */
export const IS_ACCEPTED = sql<number>`case when accepted is null then 0 else 1 end`;

/** Runs that ended in one way on a day. */
export interface DayCount {
  /** Their configuration, where each is counted for itself. */
  readonly lock_key?: string | undefined;
  readonly day: string;
  readonly status: RunStatus;
  readonly verdict: string | null;
  readonly isAccepted: boolean;
  readonly runs: number;
}

/** Counts the runs of a branch that ended in a range of days, by day, status and verdict. */
export async function countByDay(
  meta: Meta,
  filter: Pick<RunFilter, 'branchId' | 'component' | 'components' | 'configuration'> & {
    readonly since: string;
    /** Up to before it. */
    readonly until: string;
    /** Counts those of each configuration for themselves. */
    readonly isBySource?: boolean;
  },
): Promise<readonly DayCount[]> {
  const day = sql<string>`substr(ended, 1, 10)`;
  // An expression keeps SQLite from reading all runs of the branch by the index of configurations: it takes that of ends.
  const branch = filter.configuration === undefined ? sql<number>`+branch_id` : sql.ref<number>('branch_id');
  let query = meta
    .selectFrom('runs')
    .select([
      day.as('day'),
      'status',
      'verdict',
      IS_ACCEPTED.as('is_accepted'),
      ({ fn }) => fn.countAll<number | string>().as('runs'),
    ])
    .where(branch, '=', filter.branchId)
    .where('ended', '>=', filter.since)
    .where('ended', '<', filter.until);
  if (filter.component !== undefined) query = query.where('component_id', '=', filter.component);
  if (filter.configuration !== undefined) query = query.where('configuration_id', '=', filter.configuration);
  if (filter.components !== undefined) query = query.where('component_id', 'in', filter.components);
  const counted = await query
    .groupBy([day, 'status', 'verdict', IS_ACCEPTED])
    .$if(filter.isBySource === true, (all) => all.select('lock_key').groupBy('lock_key'))
    .execute();
  return counted.map(({ runs, is_accepted, ...kind }) => ({
    ...kind,
    isAccepted: is_accepted === 1,
    runs: Number(runs),
  }));
}
