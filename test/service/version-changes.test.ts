// @module-tag thorough
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import type { Change } from '../../src/service/domain/configurations/model.ts';
import { createRow } from '../../src/service/domain/configurations/rows.ts';
import { createConfiguration, updateConfiguration } from '../../src/service/domain/configurations/write.ts';
import { openMeta, type Meta } from '../../src/service/stores/metadata/database.ts';
import { transactionsOf } from '../../src/service/stores/metadata/transaction.ts';
import { openProject } from '../../src/service/stores/metadata/projects.ts';

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

/** As a service opens it: with the counter that events take their numbers from. */
async function openWithProject(file: string): Promise<Meta> {
  const meta = await openMeta(file);
  await openProject(meta, systemEnv, { name: 'n', region: 'r' });
  return meta;
}

async function sizeWith(count: number): Promise<number> {
  const file = path.join(folder, `${count}.sqlite`);
  const meta = await openWithProject(file);
  await createConfiguration(transactionsOf(meta), key, { name: 'n' }, change);
  await createRow(transactionsOf(meta), key, 'first', {}, change);
  await updateConfiguration(
    { meta, transact: transactionsOf(meta) },
    key,
    { rowsSortOrder: ['first'] },
    change,
  );
  for (let row = 0; row < count; row++) await createRow(transactionsOf(meta), key, `row-${row}`, {}, change);
  await meta.destroy();
  return (await stat(file)).size;
}
