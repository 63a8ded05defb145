import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { createLakeEngine, type LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import { containing } from '../../../harness.ts';
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

const opening = async (extensions: string): Promise<unknown> => {
  const folder = await mkdtemp(join(tmpdir(), 'lake-'));
  const place = { kind: 'folder', folder: join(folder, 'lake') } as const;
  try {
    return await createLakeEngine({ place, workFolder: join(folder, 'work'), extensions }).open();
  } finally {
    await rm(folder, { recursive: true });
  }
};

test('a folder without the extensions is told with what to do', async () => {
  await expect(opening('/no/such')).rejects.toMatchObject({
    code: 'lake.extension',
    audience: 'user',
    message: 'DuckDB’s extension “ducklake” cannot be loaded: there is no such file in the folder.',
    where: { file: '/no/such/ducklake.duckdb_extension' },
    hint: expect.stringMatching(/for exactly DuckDB v[\d.]+ .*\n.*--duckdb-extensions DIR/) as unknown,
  });
});

test('so is a file that is no extension, or one for another version of DuckDB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'extensions-'));
  const file = join(folder, 'ducklake.duckdb_extension');
  await writeFile(file, 'not one');
  await expect(opening(folder)).rejects.toMatchObject({
    code: 'lake.extension',
    message: containing('is not a DuckDB extension'),
  });
  if (EXTENSIONS !== undefined) {
    const bytes = await readFile(join(EXTENSIONS, 'ducklake.duckdb_extension'));
    // Its version is in the last bytes.
    const at = bytes.lastIndexOf(version());
    bytes.write('v0.0.1', at);
    await writeFile(file, bytes);
    await expect(opening(folder)).rejects.toMatchObject({
      code: 'lake.extension',
      message: containing("built specifically for DuckDB version 'v0.0.1'"),
    });
  }
  await rm(folder, { recursive: true });
});
