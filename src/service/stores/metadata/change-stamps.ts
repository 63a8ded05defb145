import type { Meta } from './database.ts';

/** Kinds of things that lists show. */
export type ChangeTopic = 'configurations' | 'jobs' | 'runs' | 'tables';

/** Texts that are others after a change of what lists show. */
export type ChangeStamps = Readonly<Record<ChangeTopic, string>>;

/** More that is unfinished is not looked at one by one. */
const UNFINISHED = 500;

/** Looks at what has changed last, of all branches: a few rows by their indexes, and the number of tables and configurations. */
export async function readStamps(meta: Meta): Promise<ChangeStamps> {
  const [runs, atWork, jobs, working, tables, buckets, configurations] = await Promise.all([
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
  ]);
  return {
    runs: JSON.stringify([runs, atWork]),
    jobs: JSON.stringify([jobs, working]),
    tables: JSON.stringify([tables, buckets]),
    configurations: JSON.stringify(configurations),
  };
}
