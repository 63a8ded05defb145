import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import type { ImportRequest } from '../../../../../src/service/stores/tables/engine.ts';

async function* slices(rows: number) {
  yield (async function* () {
    yield Buffer.from(`text\n${`${'x'.repeat(1_000_000)}\n`.repeat(rows)}`);
  })();
}

test(
  'a load that the memory is too small for says so, and the table stays as it was',
  { tags: 'thorough' },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'memory-'));
    const engine = createDuckDbEngine({ folder, memoryLimitMb: 24 });
    await engine.open();
    const table = { bucket: 'in.c-main', table: 'long' };
    const load = async (rows: number, request: Partial<ImportRequest> = {}) => {
      await engine.import(table, { importedAt: new Date(0), ...request }, slices(rows));
    };
    try {
      await load(1, { create: { primaryKey: [] } });
      await expect(load(40)).rejects.toMatchObject({ code: 'storage.outOfMemory' });
      expect((await engine.preview(table, {})).rows).toHaveLength(1);
      expect((await engine.describe(table))?.rows).toBe(1);
    } finally {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
