import { CompiledQuery, type RootOperationNode } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openMeta, type Meta } from '../../../src/service/stores/metadata/database.ts';
import { loadsOfConfiguration, loadsOfTable } from '../../../src/service/stores/metadata/run-tables.ts';
import { countByDay } from '../../../src/service/stores/metadata/runs.ts';

const meta = await openMeta(':memory:');
afterAll(async () => await meta.destroy());

/** Returns how SQLite comes to the rows of each table that a query reads. */
async function plan(ask: (meta: Meta) => Promise<unknown>): Promise<string[]> {
  let asked: RootOperationNode | undefined;
  await ask(
    meta.withPlugin({
      // Called for parts of a query too; the whole comes last.
      transformQuery: ({ node }) => (asked = node),
      transformResult: async ({ result }) => await Promise.resolve(result),
    }),
  );
  if (asked === undefined) throw new Error('It asked for nothing.');
  const { sql, parameters } = meta.getExecutor().compileQuery(asked, { queryId: 'plan' });
  const { rows } = await meta.executeQuery<{ detail: string }>(
    CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
  );
  const steps = rows.map(({ detail }) => detail);
  return steps.filter((step) => /^(?:SCAN|SEARCH) (?:runs|run_tables|t)\b/.test(step));
}

const table = { branch_id: 1, id: 'in.c-main.users', created: '2026-01-01T00:00:00.000Z' };
const source = { branch_id: 1, component_id: 'ex-generic-v2', configuration_id: 'crm' };
const of = { branchId: 1, since: '2026-01-01', until: '2026-02-01' };

test('where a table comes from is read by its key, and not by its branch', async () => {
  expect(await plan(async (db) => await loadsOfTable(db, table))).toEqual([
    'SEARCH run_tables USING INDEX sqlite_autoindex_run_tables_1 (branch_id=? AND table_id=?)',
    expect.stringContaining('(branch_id=? AND table_id=? AND run_id=? AND row_id=? AND name=?)'),
  ]);
});

test('the tables of a source are read by the source', async () => {
  expect((await plan(async (db) => await loadsOfConfiguration(db, source)))[0]).toContain(
    'INDEX run_tables_configuration (component_id=? AND configuration_id=? AND branch_id=?)',
  );
});

test.each([
  of,
  { ...of, isBySource: true },
  { ...of, component: 'ex-generic-v2' },
  { ...of, components: ['ex-generic-v2', 'other'] },
])('runs by day are read from the first day on: %o', async (filter) => {
  expect(await plan(async (db) => await countByDay(db, filter))).toEqual([
    'SEARCH runs USING INDEX runs_ended (ended>? AND ended<?)',
  ]);
});

test('runs of a source by day are read by the source', async () => {
  const filter = { ...of, component: 'ex-generic-v2', configuration: 'crm' };
  expect((await plan(async (db) => await countByDay(db, filter)))[0]).toContain(
    'INDEX runs_configuration (branch_id=? AND component_id=? AND configuration_id=?)',
  );
});
