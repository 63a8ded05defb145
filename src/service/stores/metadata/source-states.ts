import type { Meta } from './database.ts';
import type { ConfigurationVersionRow, RunRow, ScheduleRow } from './tables.ts';

/** A configuration, as far as lists show it; `created` is the time of its version. */
export type NamedSource = Pick<
  ConfigurationVersionRow,
  'branch_id' | 'component_id' | 'configuration_id' | 'created' | 'is_disabled' | 'name' | 'version'
>;

/**
 * Configurations of a branch, by default those that are not in its trash.
 *
 * @param components only of these; all when undefined
 */
export async function listNamed(
  meta: Meta,
  branchId: number,
  components: readonly string[] | undefined,
  isDeleted = false,
): Promise<readonly NamedSource[]> {
  if (components?.length === 0) return [];
  let query = meta
    .selectFrom('configurations as c')
    .innerJoin('configuration_versions as v', (join) =>
      join
        .onRef('v.branch_id', '=', 'c.branch_id')
        .onRef('v.component_id', '=', 'c.component_id')
        .onRef('v.configuration_id', '=', 'c.configuration_id')
        .onRef('v.version', '=', 'c.version'),
    )
    .select(['c.branch_id', 'c.component_id', 'c.configuration_id'])
    .select(['v.name', 'v.is_disabled', 'v.version', 'v.created'])
    .where('c.branch_id', '=', branchId)
    .where('c.is_deleted', '=', isDeleted ? 1 : 0);
  if (components !== undefined) query = query.where('c.component_id', 'in', components);
  return await query.execute();
}

export type NewestRun = Pick<RunRow, 'accepted' | 'ended' | 'id' | 'lock_key' | 'status' | 'verdict'>;

/** The newest run of each configuration of a branch that ended in one of these ways. */
export async function lastRunsOf(
  meta: Meta,
  branchId: number,
  statuses: readonly ('error' | 'success')[],
): Promise<ReadonlyMap<string, NewestRun>> {
  const newest = meta
    .selectFrom('runs')
    .select((build) => build.fn.max('id').as('id'))
    .where('branch_id', '=', branchId)
    .where('status', 'in', statuses)
    .groupBy('lock_key');
  const found = await meta
    .selectFrom('runs')
    .select(['id', 'lock_key', 'status', 'verdict', 'accepted', 'ended'])
    .where('id', 'in', newest)
    .execute();
  return new Map(found.map((run) => [run.lock_key, run]));
}

/** All schedules of a branch. */
export async function listScheduleTimes(
  meta: Meta,
  branchId: number,
): Promise<
  readonly Pick<
    ScheduleRow,
    | 'branch_id'
    | 'component_id'
    | 'configuration_id'
    | 'created'
    | 'is_enabled'
    | 'is_paused'
    | 'next_occurrence'
  >[]
> {
  return await meta
    .selectFrom('schedules')
    .select([
      'branch_id',
      'component_id',
      'configuration_id',
      'created',
      'is_enabled',
      'is_paused',
      'next_occurrence',
    ])
    .where('branch_id', '=', branchId)
    .execute();
}
