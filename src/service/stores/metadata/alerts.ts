import { sameConfiguration } from './configuration-key.ts';
import type { Meta } from './database.ts';
import type { Moment } from './timestamp.ts';
import type {
  AlertCauseRow,
  AlertMessageRow,
  AlertRow,
  AlertStateRow,
  ConfigurationKey,
  RunRow,
  ScheduleRow,
  TokenRow,
} from './tables.ts';

export async function insertAlert(tx: Meta, row: AlertRow): Promise<void> {
  await tx.insertInto('alerts').values(row).execute();
}

export async function listAlerts(meta: Meta, branchId?: number): Promise<AlertRow[]> {
  let query = meta.selectFrom('alerts').selectAll();
  if (branchId !== undefined) query = query.where('branch_id', '=', branchId);
  return await query.orderBy('id').execute();
}

export async function findAlert(meta: Meta, id: number): Promise<AlertRow | undefined> {
  return await meta.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function updateAlert(tx: Meta, id: number, changes: Partial<AlertRow>): Promise<void> {
  await tx.updateTable('alerts').set(changes).where('id', '=', id).execute();
}

/** Deletes an alert with its messages and what it has seen. */
export async function deleteAlert(tx: Meta, id: number): Promise<void> {
  await tx.deleteFrom('alert_messages').where('alert_id', '=', id).execute();
  await tx.deleteFrom('alert_states').where('alert_id', '=', id).execute();
  await tx.deleteFrom('alert_causes').where('alert_id', '=', id).execute();
  await tx.deleteFrom('alerts').where('id', '=', id).execute();
}

export async function listStates(meta: Meta, alertId: number): Promise<AlertStateRow[]> {
  return await meta
    .selectFrom('alert_states')
    .selectAll()
    .where('alert_id', '=', alertId)
    .orderBy('lock_key')
    .execute();
}

/** Replaces what is known of a configuration; undefined: it is well. */
export async function setState(
  tx: Meta,
  key: Pick<AlertStateRow, 'alert_id' | 'lock_key'>,
  state: AlertStateRow | undefined,
): Promise<void> {
  await tx
    .deleteFrom('alert_states')
    .where('alert_id', '=', key.alert_id)
    .where('lock_key', '=', key.lock_key)
    .execute();
  if (state !== undefined) await tx.insertInto('alert_states').values(state).execute();
}

export async function listCauses(meta: Meta, alertId: number): Promise<AlertCauseRow[]> {
  return await meta.selectFrom('alert_causes').selectAll().where('alert_id', '=', alertId).execute();
}

/** Replaces what was told of a cause; undefined: it is over. */
export async function setCause(
  tx: Meta,
  key: Pick<AlertCauseRow, 'alert_id' | 'cause'>,
  row: AlertCauseRow | undefined,
): Promise<void> {
  await tx
    .deleteFrom('alert_causes')
    .where('alert_id', '=', key.alert_id)
    .where('cause', '=', key.cause)
    .execute();
  if (row !== undefined) await tx.insertInto('alert_causes').values(row).execute();
}

export async function insertMessage(tx: Meta, row: AlertMessageRow): Promise<void> {
  await tx.insertInto('alert_messages').values(row).execute();
}

/** Messages of an alert, the newest first. */
export async function listMessages(
  meta: Meta,
  alertId: number,
  {
    limit,
    offset,
    status,
  }: {
    readonly limit: number;
    readonly offset: number;
    readonly status: AlertMessageRow['status'] | undefined;
  },
): Promise<AlertMessageRow[]> {
  let query = meta.selectFrom('alert_messages').selectAll().where('alert_id', '=', alertId);
  if (status !== undefined) query = query.where('status', '=', status);
  return await query.orderBy('id', 'desc').limit(limit).offset(offset).execute();
}

export async function findMessage(meta: Meta, id: number): Promise<AlertMessageRow | undefined> {
  return await meta.selectFrom('alert_messages').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Alerts with messages whose time has come. */
export async function listDueAlerts(meta: Meta, now: Moment): Promise<readonly number[]> {
  const found = await meta
    .selectFrom('alert_messages')
    .select('alert_id')
    .distinct()
    .where('status', '=', 'waiting')
    .where('not_before', '<=', now)
    .execute();
  return found.map(({ alert_id }) => alert_id);
}

/** Messages whose time has come, in their order. */
export async function listDueMessages(
  meta: Meta,
  alertId: number,
  now: Moment,
  limit: number,
): Promise<AlertMessageRow[]> {
  return await meta
    .selectFrom('alert_messages')
    .selectAll()
    .where('alert_id', '=', alertId)
    .where('status', '=', 'waiting')
    .where('not_before', '<=', now)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function updateMessage(
  meta: Meta,
  id: number,
  changes: Partial<Omit<AlertMessageRow, 'id'>>,
): Promise<void> {
  await meta.updateTable('alert_messages').set(changes).where('id', '=', id).execute();
}

/** Removes what was sent or given up, and is older than the newest of an alert. */
export async function keepMessages(meta: Meta, alertId: number, count: number): Promise<void> {
  const last = await meta
    .selectFrom('alert_messages')
    .select('id')
    .where('alert_id', '=', alertId)
    .orderBy('id', 'desc')
    .offset(count)
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return;
  await meta
    .deleteFrom('alert_messages')
    .where('alert_id', '=', alertId)
    .where('status', '!=', 'waiting')
    .where('id', '<=', last.id)
    .execute();
}

/** Returns the configurations of a branch that are not in its trash. */
export async function listLive(meta: Meta, branchId: number): Promise<readonly ConfigurationKey[]> {
  return await meta
    .selectFrom('configurations')
    .select(['branch_id', 'component_id', 'configuration_id'])
    .where('branch_id', '=', branchId)
    .where('is_deleted', '=', 0)
    .execute();
}

/** The newest run of a configuration that ended by itself. */
export type LastEnded = Pick<
  RunRow,
  | 'accepted'
  | 'component_id'
  | 'configuration_id'
  | 'ended'
  | 'error'
  | 'id'
  | 'lock_key'
  | 'status'
  | 'verdict'
>;

/** Names the configurations of which runs ended from a time on. */
export async function endedSince(meta: Meta, branchId: number, since: string): Promise<readonly string[]> {
  const found = await meta
    .selectFrom('runs')
    .select('lock_key')
    .distinct()
    .where('branch_id', '=', branchId)
    .where('ended', '>=', since)
    .where('status', 'in', ['success', 'error'])
    .execute();
  return found.map(({ lock_key }) => lock_key);
}

/** Returns the newest run of a configuration that ended by itself; one that was cancelled tells nothing. */
export async function lastEnded(meta: Meta, lockKey: string): Promise<LastEnded | undefined> {
  return await meta
    .selectFrom('runs')
    .select([
      'id',
      'component_id',
      'configuration_id',
      'lock_key',
      'status',
      'verdict',
      'accepted',
      'ended',
      'error',
    ])
    .where('lock_key', '=', lockKey)
    .where('status', 'in', ['success', 'error'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Schedules that are on, of a branch. */
export async function listEnabled(meta: Meta, branchId: number): Promise<ScheduleRow[]> {
  return await meta
    .selectFrom('schedules')
    .selectAll()
    .where('branch_id', '=', branchId)
    .where('is_enabled', '=', 1)
    .where('is_paused', '=', 0)
    .orderBy('id')
    .execute();
}

const AT_ONCE = 500;

/** When the newest good run of each configuration ended, by `lock_key`. */
export async function lastLoads(
  meta: Meta,
  lockKeys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let at = 0; at < lockKeys.length; at += AT_ONCE) {
    const newest = meta
      .selectFrom('runs')
      .select((build) => build.fn.max('id').as('id'))
      .where('lock_key', 'in', lockKeys.slice(at, at + AT_ONCE))
      .where('status', '=', 'success')
      .groupBy('lock_key');
    const some = await meta
      .selectFrom('runs')
      .select(['lock_key', 'ended'])
      .where('id', 'in', newest)
      .execute();
    for (const { lock_key, ended } of some) if (ended !== null) found.set(lock_key, ended);
  }
  return found;
}

/** A good run, as far as it is compared with others. */
export type GoodRun = Pick<
  RunRow,
  'asked' | 'component_id' | 'configuration_id' | 'id' | 'report' | 'verdict' | 'version'
>;

/** The newest runs of a configuration that succeeded, the newest first. */
export async function lastGood(meta: Meta, lockKey: string, limit: number): Promise<readonly GoodRun[]> {
  return await meta
    .selectFrom('runs')
    .select(['id', 'component_id', 'configuration_id', 'asked', 'report', 'verdict', 'version'])
    .where('lock_key', '=', lockKey)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Tokens that end before a time or have ended, but for those of runs. */
export async function listEnding(
  meta: Meta,
  before: Moment,
): Promise<readonly Pick<TokenRow, 'created' | 'description' | 'expires' | 'id' | 'refreshed'>[]> {
  return await meta
    .selectFrom('tokens')
    .select(['id', 'description', 'created', 'refreshed', 'expires'])
    .where('run_limits', 'is', null)
    .where('expires', '<', before)
    .orderBy('id')
    .execute();
}

/** A configuration that keeps logins in its state, and when its version was made. */
export interface WithLogins extends ConfigurationKey {
  readonly state: string;
  readonly version_created: string;
}

/** Configurations of a branch that keep logins and are not in the trash. */
export async function listWithLogins(meta: Meta, branchId: number): Promise<readonly WithLogins[]> {
  return await meta
    .selectFrom('configurations as c')
    .innerJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'v', 'c', { version: 'version' }),
    )
    .select([
      'c.branch_id',
      'c.component_id',
      'c.configuration_id',
      'c.state',
      'v.created as version_created',
    ])
    .where('c.branch_id', '=', branchId)
    .where('c.is_deleted', '=', 0)
    .where('c.state', 'like', '%"logins"%')
    .execute();
}
