import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { addTags } from '../../../../src/runner/client-storage.ts';
import { bytesBody } from '../../../../src/storage/client/index.ts';
import { anyText } from '../../../service/harness.ts';
import { failureOf, isIn, keptLog, manifestIn, pull, textIn, useStorage } from './support.ts';

const storage = useStorage();

/** Names in `in/files` without the ids, in the order of the ids. */
function namesIn(folder: string): string[] {
  if (!isIn(folder, 'files')) return [];
  return readdirSync(path.join(folder, 'in', 'files'))
    .filter((name) => !name.endsWith('.manifest'))
    .toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b))
    .map((name) => name.replace(/^\d+_/, ''));
}

const choose = (...tags: object[]): object => ({ source: { tags }, changed_since: 'adaptive' });

const keyOf = (fileId: number, name: string): string => `${fileId}-${name}`;

describe('input files', () => {
  test('a file is saved under its id and name, with everything about it in the manifest', async () => {
    const tag = storage.unique('tag');
    const id = await storage.file('a b/../c.txt', [tag, 'x'], 'some text');
    const folder = await storage.folder();

    const inputs = await pull(storage.client(), folder, { files: [{ tags: [tag, 'nobody has it'] }] });

    expect(inputs).toEqual({ state: undefined, processed: [], tables: 0, files: 1 });
    expect(textIn(folder, `files/${id}_a b___c.txt`)).toBe('some text');
    expect(manifestIn(folder, `files/${id}_a b___c.txt`)).toEqual({
      id,
      created: anyText,
      is_public: false,
      is_sliced: false,
      is_encrypted: true,
      name: 'a b/../c.txt',
      size_bytes: 9,
      tags: [tag, 'x'],
      max_age_days: 15,
    });
  });

  test('without a limit they are the ten newest', async () => {
    const tag = storage.unique('tag');
    for (let i = 1; i <= 12; i++) await storage.file(`f${i}`, [tag]);
    const folder = await storage.folder();
    const client = storage.client();
    await pull(client, folder, { files: [{ tags: [tag] }] });
    expect(namesIn(folder)).toEqual(Array.from({ length: 10 }, (_, i) => `f${i + 3}`));
    await pull(client, folder, { files: [{ tags: [tag], limit: 1 }] });
    expect(namesIn(folder)).toEqual(['f12']);
  });

  test('`source.tags` wants all of some tags and none of others', async () => {
    const [a, b, c] = [storage.unique('a'), storage.unique('b "quoted\\" '), storage.unique('c')];
    await storage.file('a', [a]);
    await storage.file('ab', [a, b]);
    await storage.file('abc', [a, b, c]);
    const folder = await storage.folder();
    const names = async (...tags: object[]): Promise<string[]> => {
      await pull(storage.client(), folder, { files: [{ source: { tags } }] });
      return namesIn(folder);
    };
    expect(await names({ name: a }, { name: b, match: 'include' })).toEqual(['ab', 'abc']);
    expect(await names({ name: a }, { name: b }, { name: c, match: 'exclude' })).toEqual(['ab']);
    expect(await names({ name: a }, { name: a.slice(0, -1) })).toEqual([]);
  });

  test('a query, ids, the run and a time choose', async () => {
    const word = storage.unique('report');
    const [old, mine] = [await storage.file(`${word} old.txt`), await storage.file(`${word} mine.txt`)];
    const { id: ofRun } = await storage
      .client({ runId: '7.8' })
      .files.upload(bytesBody('x'), { name: `${word} run.txt`, tags: [word] });
    const folder = await storage.folder();
    const names = async (files: object, runId?: string): Promise<string[]> => {
      await pull(storage.client(), folder, { files: [files] }, { runId });
      return namesIn(folder);
    };
    expect(await names({ query: `name:${word}`, limit: 2 })).toEqual([`${word} mine.txt`, `${word} run.txt`]);
    expect(await names({ query: `name:${word} OR name:none`, source: { tags: [{ name: word }] } })).toEqual([
      `${word} run.txt`,
    ]);
    expect(await names({ file_ids: [old, String(mine)] })).toEqual([`${word} old.txt`, `${word} mine.txt`]);
    expect(await names({ query: `name:${word}`, filter_by_run_id: true }, '7.8')).toEqual([
      `${word} run.txt`,
    ]);
    expect(await names({ query: `name:${word}`, changed_since: '-1 hour' })).toHaveLength(3);
    expect(await names({ query: `name:${word}`, changed_since: '+1 hour' })).toEqual([]);
    expect(ofRun).toBeGreaterThan(mine);
  });

  test('a file that two entries mean is fetched once, and gets the tags of both', async () => {
    const tag = storage.unique('tag');
    const done = storage.unique('done');
    const id = await storage.file('a', [tag]);
    const client = storage.client();
    const files = [
      { tags: [tag], processed_tags: [done, 'both'] },
      { file_ids: [id], processed_tags: ['both', 'second'] },
    ];
    const folder = await storage.folder();
    const { processed } = await pull(client, folder, { files });
    expect(processed).toEqual([{ fileId: id, tags: [done, 'both', 'second'] }]);

    const { log, lines } = keptLog();
    const connection = { client, address: 'here', project: '1', isLocal: false };
    const signal = new AbortController().signal;
    const gone = { fileId: id + 1_000_000, tags: ['x'] };
    await addTags({ connection, log, signal }, [gone, ...processed], keyOf);
    await addTags({ connection, log, signal }, processed, keyOf);
    expect((await client.files.detail(id)).tags).toEqual([tag, done, 'both', 'second']);
    expect(lines.map(({ message }) => message)).toEqual([`The file ${gone.fileId} is gone: it gets no tags`]);
    const rest = { source: { tags: [{ name: tag }, { name: done, match: 'exclude' }] } };
    expect((await pull(client, folder, { files: [rest] })).files).toBe(0);
  });

  test('a sliced file is a folder with its slices in their order', async () => {
    const tag = storage.unique('tag');
    const upload = async (name: string, slices: readonly string[]): Promise<number> => {
      const bodies = slices.map((slice) => ({ name: slice, body: bytesBody(`${slice}\n`) }));
      return (await storage.client().files.uploadSliced(bodies, { name, tags: [tag] })).id;
    };
    const sorted = await upload('sorted.csv', ['part1', 'part2']);
    const mixed = await upload('mixed.csv', ['part10', 'part9', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    const folder = await storage.folder();
    await pull(storage.client(), folder, { files: [{ tags: [tag] }] });
    const slicesOf = (name: string): string[] =>
      readdirSync(path.join(folder, 'in', 'files', name)).toSorted();
    expect(slicesOf(`${sorted}_sorted.csv`)).toEqual(['part1', 'part2']);
    expect(textIn(folder, `files/${sorted}_sorted.csv/part2`)).toBe('part2\n');
    expect(manifestIn(folder, `files/${sorted}_sorted.csv`)).toMatchObject({ is_sliced: true });
    expect(slicesOf(`${mixed}_mixed.csv`).slice(0, 3)).toEqual(['01_part10', '02_part9', '03_a']);
  });
});

describe('only new files', () => {
  test('“adaptive” works through them from the oldest on, and passes none over', async () => {
    const tag = storage.unique('tag');
    const client = storage.client();
    const ids: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push(await storage.file(name, [tag]));
    const folder = await storage.folder();
    const { log, lines } = keptLog();
    const mapping = { files: [{ tags: [tag], changed_since: 'adaptive', limit: 2 }] };
    const next = async (state: Awaited<ReturnType<typeof pull>>['state']) =>
      await pull(client, folder, mapping, { state, log });

    const first = await next(undefined);
    expect(namesIn(folder)).toEqual(['a', 'b']);
    expect(first.state).toEqual({
      input: { tables: [], files: [{ tags: [{ name: tag }], lastImportId: ids[1] }] },
    });
    expect(lines.at(0)).toMatchObject({ message: '3 new files wait for the next run' });
    const second = await next(first.state);
    expect(namesIn(folder)).toEqual(['c', 'd']);
    const third = await next(second.state);
    expect(namesIn(folder)).toEqual(['e']);
    const fourth = await next(third.state);
    expect(namesIn(folder)).toEqual([]);
    expect(fourth.state).toEqual(third.state);
    await storage.file('f', [tag]);
    await next(fourth.state);
    expect(namesIn(folder)).toEqual(['f']);
  });

  test('the state tells one choice of tags from another, in any order', async () => {
    const [a, b] = [storage.unique('a'), storage.unique('b')];
    const id = await storage.file('ab', [a, b]);
    const folder = await storage.folder();
    const [nameA, notB] = [
      { name: a, match: 'include' },
      { name: storage.unique('x'), match: 'exclude' },
    ];
    const files = [choose(nameA, notB)];
    const { state } = await pull(storage.client(), folder, { files }, { state: { input: [] } });
    expect(state).toEqual({ input: { tables: [], files: [{ tags: [nameA, notB], lastImportId: id }] } });
    expect((await pull(storage.client(), folder, { files: [choose(notB, nameA)] }, { state })).files).toBe(0);
    expect((await pull(storage.client(), folder, { files: [choose(nameA)] }, { state })).files).toBe(1);
  });

  test('many new files are worked through as well', async () => {
    const tag = storage.unique('tag');
    const client = storage.client();
    for (let i = 0; i < 103; i++)
      await client.files.prepare({ name: `p${i}`, tags: [tag], federationToken: true });
    const { id } = (await client.files.list({ tags: [tag], limit: 1, offset: 102 }))[0] ?? { id: 0 };
    await client.files.delete(id);
    const folder = await storage.folder();
    const mapping = { files: [{ tags: [tag], changed_since: 'adaptive', limit: 1 }] };
    const error = await failureOf(pull(client, folder, mapping));
    // The oldest one there is, which has no content.
    expect(error.message).toContain(`The file ${id + 1}, “p1”, could not be fetched`);
  });
});

describe('files that cannot be fetched', () => {
  test('a file that was never uploaded is told with what to do', async () => {
    const tag = storage.unique('tag');
    const client = storage.client();
    const { id } = await client.files.prepare({ name: 'half', tags: [tag], federationToken: true });
    await storage.file('whole', [tag]);
    const folder = await storage.folder();
    const error = await failureOf(pull(client, folder, { files: [{ tags: [tag] }] }));
    expect(error).toMatchObject({
      code: 'input.failed',
      where: { path: 'storage.input.files[0]' },
      hint: 'It was announced but never uploaded, or it was deleted meanwhile. Delete it, or leave it out by its tags.',
    });
    expect(error.message).toContain(`The file ${id}, “half”, could not be fetched`);
    expect(isIn(folder, 'files')).toBe(false);
  });

  test('mistakes are told before anything is fetched', async () => {
    const client = storage.client();
    const folder = await storage.folder();
    const files = [
      { file_ids: [99_999_999, 'x'] },
      { query: 'name:(' },
      { query: 'a', changed_since: 'adaptive' },
      { tags: ['a'], changed_since: 'some day' },
      { tags: ['a'], filter_by_run_id: true },
      { file_ids: [1], tags: ['a'] },
      { file_ids: [99_999_999] },
      { source: { tags: [{ match: 'include' }] } },
    ];
    const error = await failureOf(pull(client, folder, { files }));
    expect(error.message.split('\n')).toEqual([
      'The input mapping has 8 mistakes; nothing was fetched.',
      'storage.input.files[0].file_ids[1]: “x” is no id of a file.',
      expect.stringContaining('storage.input.files[1].query: The storage refuses this choice of files: '),
      'storage.input.files[2].changed_since: “adaptive” cannot be used with `query`: the state remembers files by their tags. Choose the files by tags.',
      'storage.input.files[3].changed_since: “some day” is no time. Write a date, a Unix time, an offset such as “-2 days”, or “adaptive”.',
      'storage.input.files[4].filter_by_run_id: This run has no id that files could be chosen by. Leave `filter_by_run_id` out, or give the run an id with KBC_RUNID.',
      'storage.input.files[5].file_ids: `file_ids` stands alone: tags, a query or a time add nothing to it.',
      'storage.input.files[6].file_ids[0]: There is no file 99999999. It may have been deleted, or its time may be over.',
      'storage.input.files[7].source.tags[0].name: `name` is missing. It is the name of a tag.',
    ]);
  });

  test('with `overwrite` off, a file that lies there already is no input', async () => {
    const id = await storage.file('a.txt');
    const folder = await storage.folder();
    await mkdir(path.join(folder, 'in', 'files'), { recursive: true });
    await writeFile(path.join(folder, 'in', 'files', `${id}_a.txt`), 'mine');
    const files = [{ file_ids: [id], overwrite: false }];
    const error = await failureOf(pull(storage.client(), folder, { files }));
    expect(error).toMatchObject({
      code: 'input.invalid',
      where: { path: 'storage.input.files[0].overwrite' },
    });
    expect(textIn(folder, `files/${id}_a.txt`)).toBe('mine');
    await pull(storage.client(), folder, { files: [{ file_ids: [id] }] });
    expect(textIn(folder, `files/${id}_a.txt`)).toBe('a.txt');
    // It is of the mapping now.
    await pull(storage.client(), folder, { files });
  });
});
