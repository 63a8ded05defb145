import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, startApi } from '../../cli/support.ts';
import { zipOf, type ZipShape } from './zip.ts';

const env = { ...systemEnv, sleep: async () => {} };

/** The table that a run makes of an answer. */
async function tableOf(body: Uint8Array, job: object = {}): Promise<string | undefined> {
  const api = await startApi((_, response) =>
    response.writeHead(200, { 'Content-Type': 'application/zip' }).end(body),
  );
  const folder = dataFolder(
    configOf(api, [{ endpoint: 'books', dataType: 'books', ...job }], {
      api: { retryConfig: { maxRetries: 1 } },
    }),
  );
  await run({ dataFolder: folder, log: silentLog, env });
  return filesOf(folder)['out/tables/library.books'];
}

const csv = (...ids: readonly number[]): Buffer => Buffer.from(`id\n${ids.join('\n')}\n`);
const table = (...ids: readonly number[]): string => `"id"\n${ids.map((id) => `"${id}"\n`).join('')}`;
const TWO = [
  ['a.csv', csv(1)],
  ['b.csv', csv(2)],
] as const;

/** A copy with one number of its directory changed, of the entry that is counted from 0. */
function changed(zip: Buffer, index: number, offset: number, value: number, width: 2 | 4): Buffer {
  const signature = Buffer.from([0x50, 0x4b, 1, 2]);
  let at = zip.indexOf(signature);
  for (let i = 0; i < index; i++) at = zip.indexOf(signature, at + 4);
  const copy = Buffer.from(zip);
  copy.writeUIntLE(value, at + offset, width);
  return copy;
}

describe('an archive', () => {
  test.each<[string, ZipShape]>([
    ['as usual', {}],
    ['in 64 bits', { is64: true }],
    ['with sizes behind the files', { hasDescriptors: true }],
  ])('%s is read whole', async (_, shape) => {
    expect(await tableOf(zipOf(TWO, shape))).toBe(table(1, 2));
  });

  test('of many files is read whole', { tags: 'thorough' }, async () => {
    const files = Array.from({ length: 2000 }, (_, i) => [`${i}.csv`, csv(i)] as const);
    expect(await tableOf(zipOf(files))).toBe(table(...files.map((_, i) => i)));
  });

  test('has names that lead nowhere: they are no paths', async () => {
    const files = [
      ['/etc/a.csv', csv(1)],
      ['../b.csv', csv(2)],
      ['C:\\c.csv', csv(3)],
    ] as const;
    expect(await tableOf(zipOf(files))).toBe(table(1, 2, 3));
    expect(await tableOf(zipOf(files), { zip: { members: '../*' } })).toBe(table(2));
  });

  test.each([false, true])('that counts fewer files than it has is an error (64 bits: %s)', async (is64) => {
    await expect(tableOf(zipOf(TWO, { count: 1, is64 }))).rejects.toThrow(
      'cannot be used: its directory says that it has 1 file, and goes on behind it.',
    );
    await expect(tableOf(zipOf(TWO, { count: 0, is64 }))).rejects.toThrow(
      'cannot be used: its directory says that it has 0 files, and goes on behind them.',
    );
  });

  test('whose count begins again behind 65,535 is an error', { tags: 'thorough' }, async () => {
    const files = Array.from({ length: 65_537 }, (_, i) => [`${i}.stored`, csv(i)] as const);
    await expect(tableOf(zipOf(files), { format: 'csv' })).rejects.toThrow(
      'its directory says that it has 1 file, and goes on behind it',
    );
  });

  test('that counts more files than it has is an error', async () => {
    await expect(tableOf(zipOf(TWO, { count: 3 }))).rejects.toThrow('its directory is not whole');
  });

  test('whose files share their bytes is an error', async () => {
    const zip = zipOf(TWO);
    await expect(tableOf(changed(zip, 1, 42, 0, 4))).rejects.toThrow('“a.csv” and “b.csv” share their bytes');
    await expect(tableOf(changed(zip, 0, 20, 60, 4))).rejects.toThrow(
      '“a.csv” and “b.csv” share their bytes',
    );
  });

  test.each<[string, ZipShape]>([
    ['', {}],
    [' and descriptors', { hasDescriptors: true }],
  ])('that has a file which its directory lacks is an error%s', async (_what, shape) => {
    const files = (['a.csv', 'b.csv', 'c.csv'] as const).map((name, i) => [name, csv(i)] as const);
    for (const [i, [name]] of files.entries())
      await expect(tableOf(zipOf(files, { ...shape, unlisted: i }))).rejects.toThrow(
        `cannot be used: it has the file “${name}”, which its directory lacks`,
      );
  });

  test('that grows to more than any text does is an error', { tags: 'thorough' }, async () => {
    const zip = zipOf([['a.csv', Buffer.alloc(2 ** 27, 'id\n')]]);
    await expect(tableOf(zip)).rejects.toThrow('grows to more than 1000 times its size');
    const nearly = Buffer.concat([Buffer.from('id\n'), Buffer.alloc(2 ** 20, '1\n')]);
    expect((await tableOf(zipOf([['a.csv', nearly]])))?.length).toBeGreaterThan(2 ** 20);
  });

  test.each([
    ['encrypted', 8, 1, 2, '“a.csv” is encrypted'],
    ['strongly encrypted', 8, 0x41, 2, 'its directory is damaged (strong encryption is not supported)'],
    ['packed otherwise', 10, 14, 2, '“a.csv” is packed by method 14'],
    ['smaller than it says', 24, 100, 4, '“a.csv” does not fit its size or its check sum'],
    ['larger than it says', 24, 2, 4, '“a.csv” does not fit its size or its check sum'],
    ['of another check sum', 16, 7, 4, '“a.csv” does not fit its size or its check sum'],
    ['elsewhere than it says', 42, 1, 4, '“a.csv” cannot be unpacked'],
    ['far outside', 42, 0xfffffff0, 4, '“a.csv” cannot be unpacked'],
  ] as const)('with a file that is %s is an error', async (_, offset, value, width, message) => {
    const zip = zipOf([['a.csv', csv(1, 2, 3)]]);
    await expect(tableOf(changed(zip, 0, offset, value, width))).rejects.toThrow(message);
  });

  test('that was cut is an error, wherever it was cut', async () => {
    const zip = zipOf(TWO);
    for (const length of [4, 40, zip.length - 30, zip.length - 1])
      await expect(tableOf(zip.subarray(0, length)), String(length)).rejects.toThrow('was cut off');
  });
});
