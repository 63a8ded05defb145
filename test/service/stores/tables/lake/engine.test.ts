import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLakeEngine, type LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import { testTableEngine } from '../contract.ts';
import { testTypedTables } from '../typed-tables.ts';
import { EXTENSIONS } from './support.ts';

if (EXTENSIONS === undefined)
  console.warn(
    'The lake is not tested: GEX_DUCKDB_EXTENSIONS names no folder (node scripts/duckdb-extensions.ts FOLDER fetches it).',
  );

const start = (folder: string): LakeEngine =>
  createLakeEngine({
    place: { kind: 'folder', folder: join(folder, 'lake') },
    workFolder: join(folder, 'work'),
    extensions: EXTENSIONS,
    // Schemas of all versions stay in memory, and the contract makes hundreds of them.
    memoryLimitMb: 1024,
  });

describe.runIf(EXTENSIONS)('over files', () => {
  testTableEngine('A lake in a folder', start);
  // A change of a lake takes some hundredths of a second.
  testTypedTables('A lake in a folder', start, 8);
});

test('a folder without the extensions is told with what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lake-'));
  const place = { kind: 'folder', folder: join(folder, 'lake') } as const;
  const engine = createLakeEngine({ place, workFolder: join(folder, 'work'), extensions: '/no/such' });
  await expect(engine.open()).rejects.toMatchObject({
    code: 'lake.extension',
    message: 'DuckDB’s extension “ducklake” cannot be loaded: there is no such file in the folder.',
    where: { file: '/no/such/ducklake.duckdb_extension' },
  });
  await rm(folder, { recursive: true });
});
