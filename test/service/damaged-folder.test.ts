import { cp, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gexHere } from '../cli/support.ts';
import { clientOf } from './data/client.ts';
import { isOnPostgres } from './database.ts';
import { startService } from './harness.ts';

const NOISE = Buffer.from('no database '.repeat(1000));

// Metadata in PostgreSQL is not part of the folder.
describe.skipIf(isOnPostgres)('a folder that is damaged is refused with what is wrong', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'damaged-'));
    const api = await startService({ dir: join(folder, 'whole') });
    await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
    await clientOf(api).create('in.c-main', 'users', 'id\n1\n');
    await api.service.stop();
  });
  afterAll(async () => await rm(folder, { recursive: true }));

  test.each<[string, (dir: string) => Promise<void>, string]>([
    ['cut tables', async (dir) => await truncate(join(dir, 'tables/tables.duckdb'), 5000), 'tables.duckdb'],
    ['no tables', async (dir) => await writeFile(join(dir, 'tables/tables.duckdb'), NOISE), 'not a valid'],
    ['cut metadata', async (dir) => await truncate(join(dir, 'meta.sqlite'), 8192), 'malformed'],
    ['no metadata', async (dir) => await writeFile(join(dir, 'meta.sqlite'), NOISE), 'not a database'],
    ['a file for the tables', async (dir) => await fileFor(dir, 'tables'), '/tables)'],
    ['a file for the objects', async (dir) => await fileFor(dir, 'objects'), 'part of its path is a file'],
    ['a folder for the secret', async (dir) => await folderFor(dir, 'objects.secret'), 'a folder is where'],
    ['a folder for the metadata', async (dir) => await folderFor(dir, 'meta.sqlite'), 'cannot be used'],
  ])('%s', async (what, damage, said) => {
    const dir = join(folder, what);
    await cp(join(folder, 'whole'), dir, { recursive: true });
    await damage(dir);
    for (const command of [
      ['serve', '--dir', dir, '--port', '0'],
      ['storage', 'tables', 'list', '--storage', dir],
    ]) {
      const { code, stderr } = await gexHere(...command);
      expect([command[0], code, stderr]).toEqual([command[0], 1, expect.stringContaining(said)]);
      expect(stderr).not.toContain('mistake of');
    }
  });
});

async function fileFor(dir: string, name: string): Promise<void> {
  await rm(join(dir, name), { recursive: true });
  await writeFile(join(dir, name), '');
}

async function folderFor(dir: string, name: string): Promise<void> {
  await rm(join(dir, name), { recursive: true });
  await mkdir(join(dir, name));
}
