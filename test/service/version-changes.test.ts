import { DatabaseSync } from 'node:sqlite';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Migrator } from 'kysely/migration';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import { orderAt } from '../../src/service/domain/configurations/history.ts';
import type { Change } from '../../src/service/domain/configurations/model.ts';
import {
  listRows,
  listRowsOf,
  listVersions,
  requireConfiguration,
} from '../../src/service/domain/configurations/read-configuration.ts';
import { rollbackConfiguration } from '../../src/service/domain/configurations/rollback.ts';
import { createRow, deleteRow, updateRow } from '../../src/service/domain/configurations/rows.ts';
import { createConfiguration, updateConfiguration } from '../../src/service/domain/configurations/write.ts';
import { connectMeta, openMeta, type Meta } from '../../src/service/stores/metadata/database.ts';
import { openProject } from '../../src/service/stores/metadata/projects.ts';
import { first } from '../../src/service/stores/metadata/migrations/0001-first.ts';

const key = { branch_id: 1, component_id: 'c', configuration_id: 'one' };
const change: Change = {
  author: { creator_id: 1, creator_description: 't' },
  env: systemEnv,
  text: undefined,
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'versions-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('a configuration takes as much room as was changed: four times the rows, four times the room', async () => {
  const few = await sizeWith(150);
  const many = await sizeWith(600);
  expect(many / few).toBeLessThan(5);
});

test('versions of a folder of before have their rows and orders still', async () => {
  const file = path.join(folder, 'meta.sqlite');
  const made = await openWithProject(file);
  await createConfiguration(made, key, { name: 'n' }, change);
  for (const row of ['a', 'b', 'c']) await createRow(made, key, row, {}, change);
  await updateConfiguration(made, key, { rowsSortOrder: ['c', 'b', 'a'] }, change);
  await createRow(made, key, 'd', {}, change);
  await updateRow(made, key, 'b', { configuration: '{"b":2}' }, change);
  await deleteRow(made, key, 'c', change);
  await createRow(made, key, 'c', {}, change);
  await updateConfiguration(made, key, { rowsSortOrder: ['a', 'b', 'c', 'd'] }, change);
  await rollbackConfiguration(made, key, 5, change);
  for (const row of ['a', 'b', 'c']) await deleteRow(made, key, row, change);
  await createRow(made, key, 'z', {}, change);
  await createConfiguration(made, { ...key, configuration_id: 'empty' }, { name: 'n' }, change);
  const before = await historyOf(made);
  await made.destroy();

  const old = path.join(folder, 'old.sqlite');
  await inFirstSchema(old, file, before.versions);
  const migrated = await openMeta(old);
  expect(await historyOf(migrated)).toEqual(before);
  await updateRow(migrated, key, 'z', { configuration: '{"z":2}' }, change);
  const after = await historyOf(migrated);
  expect(after.versions.at(-1)).toEqual({
    ...before.versions.at(-1),
    version: before.versions.length + 1,
    rows: [['z', 2]],
  });
  await migrated.destroy();
});

/** As a service opens it: with the counter that events take their numbers from. */
async function openWithProject(file: string): Promise<Meta> {
  const meta = await openMeta(file);
  await openProject(meta, systemEnv, { name: 'n', region: 'r' });
  return meta;
}

async function sizeWith(count: number): Promise<number> {
  const file = path.join(folder, `${count}.sqlite`);
  const meta = await openWithProject(file);
  await createConfiguration(meta, key, { name: 'n' }, change);
  await createRow(meta, key, 'first', {}, change);
  await updateConfiguration(meta, key, { rowsSortOrder: ['first'] }, change);
  for (let row = 0; row < count; row++) await createRow(meta, key, `row-${row}`, {}, change);
  await meta.destroy();
  return (await stat(file)).size;
}

interface History {
  readonly versions: readonly { version: number; rows: (readonly [string, number])[]; order: string[] }[];
  readonly live: readonly string[];
}

async function historyOf(meta: Meta): Promise<History> {
  const found = (await listVersions(meta, key, { limit: 100, offset: 0 })).toReversed();
  const versions = await Promise.all(
    found.map(async (version) => ({
      version: version.version,
      rows: (await listRowsOf(meta, version)).map((row) => [row.row_id, row.version] as const),
      order: await orderAt(meta, version),
    })),
  );
  const live = await listRows(meta, await requireConfiguration(meta, key));
  return { versions, live: live.map(({ head }) => head.row_id) };
}

/** A folder's database as the first release wrote it, with the configurations of one of now. */
async function inFirstSchema(file: string, from: string, versions: History['versions']): Promise<void> {
  const old = connectMeta(file);
  const provider = { getMigrations: async () => ({ '0001-first': first }) };
  await new Migrator({ db: old, provider }).migrateToLatest();
  await old.destroy();
  const database = new DatabaseSync(file);
  database.exec(`attach '${from}' as now`);
  for (const table of [
    'configurations',
    'configuration_contents',
    'configuration_rows',
    'row_versions',
    'counters',
  ])
    copyRows(database, table, '', '');
  copyRows(database, 'configuration_versions', ', rows, rows_sort_order', ", '[]', '[]'");
  const set = database.prepare(
    "update configuration_versions set rows = ?, rows_sort_order = ? where configuration_id = 'one' and version = ?",
  );
  for (const { version, rows, order } of versions)
    set.run(JSON.stringify(rows), JSON.stringify(order), version);
  database.close();
}

function copyRows(database: DatabaseSync, table: string, columns: string, values: string): void {
  const named = (schema: string): string[] =>
    database
      .prepare(`select name from pragma_table_info('${table}', '${schema}')`)
      .all()
      .map(({ name }) => String(name));
  const both = named('main')
    .filter((name) => named('now').includes(name))
    .join(', ');
  database.exec(`insert into ${table} (${both}${columns}) select ${both}${values} from now.${table}`);
}
