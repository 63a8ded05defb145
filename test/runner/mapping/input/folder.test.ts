import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesBody } from '../../../../src/storage/client/index.ts';
import { noise } from '../../../storage/client/support.ts';
import { failureOf, isIn, keptLog, pull, textIn, useStorage } from './support.ts';

const storage = useStorage();

/** All files below `in/`. */
function filesIn(folder: string): string[] {
  return readdirSync(path.join(folder, 'in'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(path.join(folder, 'in'), path.join(entry.parentPath, entry.name)))
    .toSorted();
}

async function put(folder: string, name: string, text: string): Promise<void> {
  const file = path.join(folder, 'in', name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

describe('the folder in/', () => {
  test('what the last run fetched goes, and what the user put there stays', async () => {
    const client = storage.client();
    const [table, tag] = [await storage.table('id\n1\n'), storage.unique('tag')];
    const { id } = await client.files.uploadSliced([{ name: 'a', body: bytesBody('1') }], {
      name: 'sliced',
      tags: [tag],
    });
    const folder = await storage.folder();
    await put(folder, 'state.json', '{}');
    await put(folder, 'tables/mine.csv', 'mine');
    await put(folder, 'tables/mine.csv.manifest', '{}');
    const mine = ['state.json', 'tables/mine.csv', 'tables/mine.csv.manifest'];

    await pull(client, folder, { tables: [{ source: table, destination: 'a' }], files: [{ tags: [tag] }] });
    const files = [`files/${id}_sliced.manifest`, `files/${id}_sliced/a`];
    expect(filesIn(folder)).toEqual(
      ['.pulled.json', ...files, ...mine, 'tables/a', 'tables/a.manifest'].toSorted(),
    );

    await pull(client, folder, { tables: [{ source: table, destination: 'b' }] });
    expect(filesIn(folder)).toEqual(['.pulled.json', ...mine, 'tables/b', 'tables/b.manifest'].toSorted());

    await pull(client, folder, {});
    expect(filesIn(folder)).toEqual(mine);
  });

  test('a file of the user is replaced when the mapping writes one of its name', async () => {
    const client = storage.client();
    const source = await storage.table('id\n1\n');
    const folder = await storage.folder();
    await put(folder, 'tables/users', 'mine');
    await pull(client, folder, { tables: [{ source, destination: 'users' }] });
    expect(textIn(folder, 'tables/users')).toBe('"id"\n"1"\n');
    await pull(client, folder, {});
    expect(filesIn(folder)).toEqual([]);
  });

  test('without a mapping nothing is made', async () => {
    const folder = await storage.folder();
    const inputs = await pull(storage.client(), folder, { tables: [], files: [] });
    expect(inputs).toEqual({ state: undefined, processed: [], tables: 0, files: 0 });
    expect(isIn(folder, '')).toBe(false);
  });

  test('after a failure it is as it was', async () => {
    const client = storage.client();
    const source = await storage.table('id\n1\n');
    const folder = await storage.folder();
    await pull(client, folder, { tables: [{ source, destination: 'users' }] });
    const before = filesIn(folder);
    const half = await client.files.prepare({ name: 'half', federationToken: true });
    const mapping = { tables: [{ source, destination: 'other' }], files: [{ file_ids: [half.id] }] };
    await failureOf(pull(client, folder, mapping));
    expect(filesIn(folder)).toEqual(before);
    expect(textIn(folder, 'tables/users')).toBe('"id"\n"1"\n');
  });

  test('Ctrl-C leaves nothing that is not whole, and no other error than its own', async () => {
    const client = storage.client();
    const tag = storage.unique('tag');
    for (let i = 0; i < 6; i++)
      await client.files.upload(bytesBody(noise(1_000_000)), { name: `f${i}`, tags: [tag] });
    const folder = await storage.folder();
    const stop = new AbortController();
    const reason = new Error('Ctrl-C');
    const busy = new Set<string>();
    let most = 0;
    const pulling = pull(
      client,
      folder,
      { files: [{ tags: [tag] }] },
      {
        signal: stop.signal,
        onProgress: ({ name, bytes, totalBytes = 0 }) => {
          busy.add(name);
          most = Math.max(most, busy.size);
          if (bytes === totalBytes) busy.delete(name);
          if (name === 'f1' && bytes > 0) stop.abort(reason);
        },
      },
    );
    await expect(pulling).rejects.toBe(reason);
    expect(filesIn(folder)).toEqual([]);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('what a killed run left under way is swept, and its list is believed', async () => {
    const client = storage.client();
    const folder = await storage.folder();
    await put(folder, '.pulling/table-0', 'half');
    await put(folder, 'tables/a', '1');
    await put(folder, '.pulled.json', '{"version":1,"tables":["a","b","../../x",".."],"files":[]}');
    writeFileSync(path.join(folder, 'x'), 'outside');
    await pull(client, folder, {});
    expect(filesIn(folder)).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(['in', 'x']);
  });

  test('a list that is broken removes nothing, and says so', async () => {
    const folder = await storage.folder();
    await put(folder, 'tables/a', '1');
    await put(folder, '.pulled.json', '{"version":1,');
    const { log, lines } = keptLog();
    await pull(storage.client(), folder, {}, { log });
    expect(isIn(folder, 'tables/a')).toBe(true);
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /\.pulled\.json cannot be read: what an earlier run has fetched is left in place$/,
      ),
    ]);
  });

  test('a folder that cannot be written is named', async () => {
    const source = await storage.table('id\n1\n');
    const folder = await storage.folder();
    await put(folder, 'tables', 'a file where a folder should be');
    const pulling = pull(storage.client(), folder, { tables: [{ source, destination: 'users' }] });
    await expect(pulling).rejects.toMatchObject({
      code: 'output.failed',
      where: { file: path.join(folder, 'in', 'tables', 'users') },
    });
  });
});
