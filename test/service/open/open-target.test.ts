// @module-tag thorough
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStorage, openTarget, run, silentLog } from '../../../src/index.ts';
import { configOf, dataFolder, json, startApi } from '../../cli/support.ts';
import { textOf } from '../../storage/client/support.ts';

const library = async (): Promise<string> =>
  dataFolder(
    configOf(await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }])), [
      { endpoint: 'books' },
    ]),
  );

async function booksIn(storage: string): Promise<string> {
  const signal = new AbortController().signal;
  const opened = await openStorage({
    storage,
    environment: {},
    log: silentLog,
    signal,
    purpose: 'look',
    mustExist: true,
  });
  try {
    return await textOf(await opened.client.tables.read('in.c-library.books'));
  } finally {
    await opened.close();
  }
}

describe('a run of the library', () => {
  test('pushes nothing unless a storage is named', async () => {
    const folder = await library();
    const { rows } = await run({ dataFolder: folder, log: silentLog });
    expect(rows[0]).not.toHaveProperty('pushed');
    expect(existsSync(path.join(folder, 'storage'))).toBe(false);
  });

  test('pushes into the folder of a storage that is named, and gives it free again', async () => {
    const folder = await library();
    const storage = path.join(folder, 'mine');
    const { rows } = await run({ dataFolder: folder, storage, log: silentLog });
    expect(rows[0]?.pushed?.tables).toMatchObject([{ destination: 'in.c-library.books' }]);
    expect(await booksIn(storage)).toBe('"id"\n"1"\n"2"\n');
  });

  test('pushes into one that was opened, by the options of its target', async () => {
    const folder = await library();
    const signal = new AbortController().signal;
    const target = await openTarget({ dataFolder: folder, log: silentLog, signal });
    try {
      await run({ ...target.options, log: silentLog, signal });
    } finally {
      await target.close();
    }
    expect(await booksIn(path.join(folder, 'storage'))).toBe('"id"\n"1"\n"2"\n');
  });

  test('“none” leaves the tables in the folder', async () => {
    const folder = await library();
    await run({ dataFolder: folder, storage: 'none', log: silentLog });
    expect(existsSync(path.join(folder, 'out/tables/library.books'))).toBe(true);
    expect(existsSync(path.join(folder, 'storage'))).toBe(false);
  });
});
