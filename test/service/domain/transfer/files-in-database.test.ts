import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere, type Ended } from '../../../cli/support.ts';
import { makeDatabase, SERVER, type TestDatabase } from '../../stores/tables/postgres/database.ts';

/** Larger than a piece of a body, and not compressible to one. */
const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i * 7919} `).join(''));

const gex = async (...words: string[]): Promise<Ended> => await runHere(['storage', ...words]);

const done = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await gex(...words);
  expect(code, stderr).toBe(0);
  return stdout + stderr;
};

describe.runIf(SERVER !== undefined)('a storage whose files are in its database', () => {
  let work: string;
  let source: string;
  const databases: TestDatabase[] = [];
  const newDatabase = async (): Promise<string> => {
    const database = await makeDatabase();
    databases.push(database);
    return database.url;
  };
  /** Looks at what a storage has. */
  const contentOf = async (storage: string): Promise<readonly string[]> => {
    const rows = await done('tables', 'export', 'in.c-main.users', '--storage', storage);
    const files = JSON.parse((await gex('files', 'list', '--json', '--storage', storage)).stdout) as {
      id: number;
      name: string;
    }[];
    const id = files.find(({ name }) => name === 'kept.bin')?.id ?? 0;
    const target = path.join(work, 'download.bin');
    await done('files', 'download', String(id), target, '--storage', storage);
    const bytes = await readFile(target);
    return [rows, bytes.equals(BYTES) ? 'the same bytes' : `${bytes.length} bytes`];
  };

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'files-in-database-'));
    const [csv, kept] = [path.join(work, 'users.csv'), path.join(work, 'kept.bin')];
    await writeFile(csv, 'id,name\n1,Ann\n2,"B\n""b"""\n');
    await writeFile(kept, BYTES);
    source = await newDatabase();
    await done('buckets', 'create', 'main', '--storage', source);
    await done('tables', 'create', 'in.c-main', csv, '--storage', source);
    await done('files', 'upload', kept, '--storage', source);
  });
  afterAll(async () => {
    for (const database of databases) await database.drop();
    await rm(work, { recursive: true, force: true });
  });

  const CONTENT = ['"id","name"\n"1","Ann"\n"2","B\n""b"""\n', 'the same bytes'];

  test('is moved into a folder, and from there into another database', async () => {
    const folder = path.join(work, 'folder');
    expect(await done('migrate', '--from', source, '--to', folder)).toContain('Both are the same');
    expect(await contentOf(folder)).toEqual(CONTENT);
    const other = await newDatabase();
    await done('migrate', '--from', folder, '--to', other);
    expect(await contentOf(other)).toEqual(CONTENT);
  });

  test('is backed up, and restored into a folder and into a database', async () => {
    const tar = path.join(work, 'storage.tar');
    await done('backup', tar, '--from', source);
    const [folder, other] = [path.join(work, 'restored'), await newDatabase()];
    await done('restore', tar, '--to', folder);
    await done('restore', tar, '--to', other);
    expect(await contentOf(folder)).toEqual(CONTENT);
    expect(await contentOf(other)).toEqual(CONTENT);
    expect(await contentOf(source)).toEqual(CONTENT);
  });

  test('is not taken for one with a bucket, nor a database without files for one with them', async () => {
    const bucket = ['--from-s3', 'http://127.0.0.1:9', '--from-s3-bucket', 'files'];
    const { code, stderr } = await runHere(
      ['storage', 'backup', path.join(work, 'no.tar'), '--from', source, ...bucket],
      { env: { GEX_S3_ACCESS_KEY: 'key', GEX_S3_SECRET_KEY: 'secret' } },
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('Leave --from-s3 out')]);
    const lake = await gex('migrate', '--from', source, '--to', await newDatabase(), '--to-tables', 'lake');
    expect([lake.code, lake.stderr]).toEqual([1, expect.stringContaining('Add --to-s3 URL')]);
    const empty = await gex('migrate', '--from', await newDatabase(), '--to', path.join(work, 'nothing'));
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('has no storage')]);
  });
});
