import type { Meta } from './database.ts';

/** Kinds of things that lists show. */
export type ChangeTopic = 'alerts' | 'configurations' | 'jobs' | 'runs' | 'schedules' | 'tables';

/** Texts that are others after a change of what lists show. */
export type ChangeStamps = Readonly<Record<ChangeTopic, string>>;

/** More that is unfinished is not looked at one by one. */
const UNFINISHED = 500;
/** More schedules are only counted. */
const SCHEDULES = 1000;

/** Looks at what has changed last, of all branches: a few rows by their indexes, the schedules and alerts, and the number of tables and configurations. */
export async function readStamps(meta: Meta): Promise<ChangeStamps> {
  const [runs, atWork, jobs, working, tables, buckets, configurations, schedules, each] = await Promise.all([
    meta
      .selectFrom('runs')
      .select(({ fn }) => [fn.max('id').as('id'), fn.max('ended').as('ended')])
      .executeTakeFirst(),
    meta
      .selectFrom('runs')
      .select(['id', 'status', 'attempt', 'beat', 'cancel_asked'])
      .where('status', 'in', ['waiting', 'processing'])
      .orderBy('id')
      .limit(UNFINISHED)
      .execute(),
    meta
      .selectFrom('jobs')
      .select(({ fn }) => [fn.max('id').as('id'), fn.max('ended').as('ended')])
      .executeTakeFirst(),
    meta
      .selectFrom('jobs')
      .select(['id', 'status', 'attempt'])
      .where('status', 'in', ['waiting', 'processing'])
      .orderBy('id')
      .limit(UNFINISHED)
      .execute(),
    meta
      .selectFrom('tables')
      .select(({ fn }) => [
        fn.countAll().as('count'),
        fn.sum('revision').as('revisions'),
        fn.max('last_change').as('last'),
      ])
      .executeTakeFirst(),
    meta
      .selectFrom('buckets')
      .select(({ fn }) => [fn.countAll().as('count'), fn.max('updated').as('last')])
      .executeTakeFirst(),
    meta
      .selectFrom('configurations')
      .select(({ fn }) => [
        fn.countAll().as('count'),
        fn.sum('version').as('versions'),
        fn.sum('is_deleted').as('deleted'),
      ])
      .executeTakeFirst(),
    meta
      .selectFrom('schedules')
      .select(({ fn }) => [
        fn.countAll().as('count'),
        fn.max('id').as('id'),
        fn.sum('is_enabled').as('enabled'),
        fn.sum('is_paused').as('paused'),
        fn.max('last_occurrence').as('last'),
      ])
      .executeTakeFirst(),
    meta
      .selectFrom('schedules')
      .select([
        'id',
        'cron',
        'time_zone',
        'rows',
        'is_enabled',
        'is_paused',
        'approved_id',
        'next_occurrence',
      ])
      .orderBy('id')
      .limit(SCHEDULES)
      .execute(),
  ]);
  return {
    alerts: JSON.stringify(await readAlerts(meta)),
    runs: JSON.stringify([runs, atWork]),
    jobs: JSON.stringify([jobs, working]),
    tables: JSON.stringify([tables, buckets]),
    configurations: JSON.stringify(configurations),
    schedules: JSON.stringify([schedules, each]),
  };
}

/** Looks at alerts, at what they see to be wrong, and at their messages. A look that finds nothing new (`seen_until`) changes nothing. */
async function readAlerts(meta: Meta): Promise<readonly unknown[]> {
  return await Promise.all([
    meta
      .selectFrom('alerts')
      .select([
        'id',
        'name',
        'url',
        'kinds',
        'component_id',
        'configuration_id',
        'late_minutes',
        'late_error_minutes',
        'columns',
        'ending_days',
        'remind_minutes',
        'muted_until',
        'is_enabled',
      ])
      .orderBy('id')
      .execute(),
    meta
      .selectFrom('alert_states')
      .select(({ fn }) => [
        'alert_id',
        'kind',
        'severity',
        fn.countAll().as('count'),
        fn.max('since').as('last'),
      ])
      .groupBy(['alert_id', 'kind', 'severity'])
      .orderBy('alert_id')
      .orderBy('kind')
      .orderBy('severity')
      .execute(),
    meta
      .selectFrom('alert_causes')
      .select(({ fn }) => [fn.countAll().as('count'), fn.max('told').as('last')])
      .executeTakeFirst(),
    // Each attempt moves the time of its message, also of one that was taken.
    meta
      .selectFrom('alert_messages')
      .select(({ fn }) => ['status', fn.countAll().as('count'), fn.max('not_before').as('last')])
      .groupBy('status')
      .orderBy('status')
      .execute(),
  ]);
}
