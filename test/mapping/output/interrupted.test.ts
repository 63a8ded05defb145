import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../src/env.ts';
import type { Json } from '../../../src/json/index.ts';
import { openJournal, type FileEntry, type Journal, type TableEntry } from '../../../src/mapping/journal.ts';
import { bytesBody, StorageError } from '../../../src/storage/client/index.ts';
import { textOf } from '../../storage/client/support.ts';
import { mappingError, startTestJournal, useWorld } from './support.ts';

const world = useWorld();

/** What is pushed, and what the storage must hold when it was pushed once. */
interface Case {
  readonly files: Readonly<Record<string, string>>;
  /** As to a service elsewhere: compressed, and through the object store. */
  readonly gzip?: boolean;
  readonly mapping: { readonly tables: readonly Json[]; readonly files: readonly Json[] };
  readonly rows: Readonly<Record<string, readonly string[]>>;
  /** The files of the storage that have the tag. */
  readonly tag: string;
  readonly contents: readonly string[];
}

/** A table without a key that is added to, with a header: the load makes it. */
function tableWithHeader(bucket = world.bucket()): Case {
  return {
    files: { 'tables/a': 'id\n1\n2\n' },
    gzip: true,
    mapping: { tables: [{ source: 'a', destination: `${bucket}.a`, incremental: true }], files: [] },
    rows: { [`${bucket}.a`]: ['1', '2'] },
    tag: bucket,
    contents: [],
  };
}

/** The same without a header: it is made before the load. */
function tableWithColumns(bucket = world.bucket()): Case {
  return {
    files: { 'tables/b': '3\n' },
    mapping: {
      tables: [{ source: 'b', destination: `${bucket}.b`, incremental: true, columns: ['id'] }],
      files: [],
    },
    rows: { [`${bucket}.b`]: ['3'] },
    tag: bucket,
    contents: [],
  };
}

function file(bucket = world.bucket()): Case {
  return {
    files: { 'files/f': 'content' },
    mapping: { tables: [], files: [{ source: 'f', tags: [bucket] }] },
    rows: {},
    tag: bucket,
    contents: ['content'],
  };
}

function together(): Case {
  const bucket = world.bucket();
  const [one, two, three] = [tableWithHeader(bucket), tableWithColumns(bucket), file(bucket)];
  return {
    files: { ...one.files, ...two.files, ...three.files },
    mapping: { tables: [...one.mapping.tables, ...two.mapping.tables], files: three.mapping.files },
    rows: { ...one.rows, ...two.rows },
    tag: bucket,
    contents: three.contents,
  };
}

/** A table that is there already: rows go, a column and rows come, and its key is taken away. */
async function changedTable(): Promise<Case> {
  const bucket = world.bucket();
  const table = { source: 'a', destination: `${bucket}.a`, incremental: true };
  const { buckets, files, tables } = world.client();
  await buckets.create({ name: bucket.replace('in.c-', '') });
  const { id: dataFileId } = await files.upload(bytesBody('id\n1\n2\n'), { name: 'a' });
  await tables.create(bucket, { name: 'a', dataFileId, primaryKey: ['id'] });
  return {
    files: { 'tables/a': 'id,name\n3,Cy\n3,Cy\n' },
    mapping: { tables: [{ ...table, delete_where_column: 'id', delete_where_values: ['1'] }], files: [] },
    rows: { [`${bucket}.a`]: ['2,', '3,Cy', '3,Cy'] },
    tag: bucket,
    contents: [],
  };
}

async function expectOnce({ rows, tag, contents: wanted }: Case): Promise<void> {
  for (const [table, expected] of Object.entries(rows)) expect(await world.rows(table)).toEqual(expected);
  const client = world.client();
  const contents = await Promise.all(
    (await client.files.list({ tags: [tag] })).map(async ({ id }) =>
      client.files.read(id).then(textOf).catch(notUploaded),
    ),
  );
  expect(contents.filter((text) => text !== 'never uploaded')).toEqual(wanted);
}

/** An answer that was lost may have been that to the preparation of a file, whose id nobody knows. */
function notUploaded(error: unknown): string {
  if (error instanceof StorageError && error.code === 'storage.notFound') return 'never uploaded';
  throw error;
}

/** The rounds of a test, several at a time, until one of them finds nothing more to do. */
async function rounds(play: (at: number) => Promise<boolean>, from = 0): Promise<number> {
  const SIDE_BY_SIDE = 4;
  for (let at = from; ; at += SIDE_BY_SIDE) {
    const played = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, i) => play(at + i)));
    if (played.includes(false)) return at + played.indexOf(false);
  }
}

/**
 * Pushes until the process is killed, before a step: a request, or a change of the journal. Nothing that it does from then
 * on counts, neither requests nor what it would write down. Then pushes again, as a new process would.
 *
 * @returns false when the push ended before that step came
 */
async function killedBefore(at: number, { files, mapping, gzip = false }: Case): Promise<boolean> {
  const out = await world.out(files);
  const kill = new AbortController();
  const { file } = startTestJournal(out);
  let count = 0;
  let atDeath: string | undefined;
  const die = (): never => {
    atDeath ??= readFileSync(file, 'utf8');
    kill.abort(new Error('killed'));
    throw new Error('killed');
  };
  const step = (): void => {
    if (kill.signal.aborted || count++ === at) die();
  };
  const fetch: typeof globalThis.fetch = async (...given) => {
    step();
    return await world.fetch(...given);
  };
  const journal = mortal(openJournal(out), step);
  const client = world.client({ fetch });
  const pushed = world.push(out, { mapping, gzip, client, signal: kill.signal, journal });
  await pushed.catch(() => {});
  if (atDeath === undefined) {
    await pushed;
    return false;
  }
  writeFileSync(file, atDeath);
  await world.push(out, { mapping, gzip });
  return true;
}

function mortal(journal: Journal | undefined, check: (changes: FileEntry & TableEntry) => void): Journal {
  if (journal === undefined) throw new Error('There is no journal.');
  return {
    ...journal,
    document: journal.document,
    updateTable(key, changes) {
      check(changes);
      journal.updateTable(key, changes);
    },
    updateFile(source, changes) {
      check(changes);
      journal.updateFile(source, changes);
    },
  };
}

describe('a push that is killed and pushed again loads every row once', () => {
  // The upload is the same for all tables of a kind.
  const UPLOAD = 3;
  test.each([
    { kind: 'a table with a header', make: tableWithHeader, from: 0, steps: 13 },
    { kind: 'a table without a header', make: tableWithColumns, from: 0, steps: 15 },
    { kind: 'a table that is there', make: changedTable, from: UPLOAD, steps: 17 },
    { kind: 'a file', make: file, from: 0, steps: 3 },
  ])('$kind, killed before any of its steps', { timeout: 30_000 }, async ({ make, from, steps }) => {
    const kills = await rounds(async (at) => {
      const each = await make();
      const isKilled = await killedBefore(at, each);
      await expectOnce(each);
      return isKilled;
    }, from);
    expect(kills).toBeGreaterThanOrEqual(steps);
  });

  test('also when it is killed again and again', async () => {
    const each = together();
    const out = await world.out(each.files);
    startTestJournal(out);
    for (let budget = 1; ; budget++) {
      let left = budget;
      const kill = new AbortController();
      const fetch: typeof globalThis.fetch = async (...given) => {
        if (left-- <= 0) kill.abort();
        kill.signal.throwIfAborted();
        return await world.fetch(...given);
      };
      const client = world.client({ fetch });
      const isDone = await world.push(out, { mapping: each.mapping, client, signal: kill.signal }).then(
        () => true,
        () => false,
      );
      if (isDone) break;
    }
    await expectOnce(each);
  });

  test('what was uploaded, but not known to be whole, is taken away', async () => {
    const each = together();
    const out = await world.out(each.files);
    startTestJournal(out);
    const journal = openJournal(out);
    const ids: number[] = [];
    const dying = mortal(journal, ({ fileId, isUploaded, done }) => {
      if (fileId !== undefined) ids.push(fileId);
      if (isUploaded === true || done === true) throw new Error('killed');
    });
    await expect(world.push(out, { mapping: each.mapping, journal: dying })).rejects.toThrow('killed');
    expect(ids).toHaveLength(3);
    await world.push(out, { mapping: each.mapping });
    await expectOnce(each);
    const { files } = world.client();
    const left = await Promise.all(ids.map((id) => files.detail(id).then(String, () => 'gone')));
    expect(left).toEqual(['gone', 'gone', 'gone']);
  });
});

test('a request of a killed process that arrives late is waited for', async () => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  await world.push(await world.out({ 'tables/t': 'id\n1\n' }), { mapping });
  const out = await world.out({ 'tables/t': 'id\n2\n' });
  const kill = new AbortController();
  let held: (() => Promise<unknown>) | undefined;
  const fetch: typeof globalThis.fetch = async (...given) => {
    const [input] = given;
    const url = input instanceof Request ? input.url : String(input);
    if (!url.endsWith('/import-async')) return await world.fetch(...given);
    held = async () => await world.fetch(url, { ...given[1], signal: null });
    kill.abort();
    throw new Error('killed');
  };
  const client = world.client({ fetch });
  await expect(world.push(out, { mapping, client, signal: kill.signal })).rejects.toThrow('aborted');
  const waits: number[] = [];
  const sleep: Env['sleep'] = async (waitMs) => {
    waits.push(waitMs);
    await held?.();
  };
  await world.push(out, { mapping, env: { ...systemEnv, sleep } });
  expect(waits).toEqual([2000]);
  expect(await world.rows(`${bucket}.t`)).toEqual(['1', '2']);
});

test('answers that are lost, whichever they are, change nothing', { timeout: 60_000 }, async () => {
  const answers = await rounds(async (at) => {
    let count = 0;
    const fetch: typeof globalThis.fetch = async (...given) => {
      const answer = await world.fetch(...given);
      if (count++ !== at) return answer;
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      });
    };
    const each = await changedTable();
    const { mapping, files } = each;
    await world.push(await world.out(files), { mapping, client: world.client({ fetch }) });
    await expectOnce(each);
    return count > at;
  });
  expect(answers).toBeGreaterThan(12);
});

test('a key that was taken away when the process was killed comes back when the new one is not admitted', async () => {
  const bucket = world.bucket();
  const mapping = (primary_key: readonly string[]) => ({
    tables: [{ source: 't', destination: `${bucket}.t`, incremental: true, primary_key }],
  });
  const rows = 'id,name\n1,Ann\n2,Ann\n';
  await world.push(await world.out({ 'tables/t': rows }), { mapping: mapping(['id']) });
  const out = await world.out({ 'tables/t': rows });
  const kill = new AbortController();
  const fetch: typeof globalThis.fetch = async (...given) => {
    const [input, init] = given;
    const url = input instanceof Request ? input.url : String(input);
    if (url.endsWith('/primary-key') && init?.method === 'POST') kill.abort();
    kill.signal.throwIfAborted();
    return await world.fetch(...given);
  };
  const killed = world.push(out, {
    mapping: mapping(['name']),
    client: world.client({ fetch }),
    signal: kill.signal,
  });
  await expect(killed).rejects.toThrow('aborted');
  const { tables } = world.client();
  expect((await tables.detail(`${bucket}.t`)).primaryKey).toEqual([]);
  await world.push(out, { mapping: mapping(['name']) });
  expect((await tables.detail(`${bucket}.t`)).primaryKey).toEqual(['id']);
  expect(await world.rows(`${bucket}.t`)).toEqual(['1,Ann', '2,Ann']);
});

/** From the answer to the load on, the token is no longer good. */
test('a token that expires while a load is waited for does not make it forgotten', async () => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  const out = await world.out({ 'tables/t': 'id\n1\n' });
  let isAsked = false;
  const fetch: typeof globalThis.fetch = async (...given) => {
    if (isAsked) return Response.json({ error: 'Invalid access token' }, { status: 401 });
    const [input] = given;
    const answer = await world.fetch(...given);
    isAsked = String(input instanceof Request ? input.url : input).endsWith('/tables-async');
    return answer;
  };
  const error = await mappingError(world.push(out, { mapping, client: world.client({ fetch }) }));
  expect(error.message).toContain('Invalid access token');
  expect(openJournal(out)?.table('t').jobId).toBeGreaterThan(0);
  await world.push(out, { mapping });
  expect(await world.rows(`${bucket}.t`)).toEqual(['1']);
});

test('an uploaded file that is gone by the time of its load is uploaded anew by the next push', async () => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  const out = await world.out({ 'tables/t': 'id\n1\n' });
  const journal = startTestJournal(out);
  let isGone = false;
  const fetch: typeof globalThis.fetch = async (...given) => {
    const { fileId = 0, asked } = journal.table('t');
    if (asked === true && !isGone) {
      isGone = true;
      await world.client().files.delete(fileId);
    }
    return await world.fetch(...given);
  };
  const error = await mappingError(world.push(out, { mapping, journal, client: world.client({ fetch }) }));
  expect(error.message).toContain('File not found');
  await world.push(out, { mapping });
  expect(await world.rows(`${bucket}.t`)).toEqual(['1']);
});

test('a content that was changed after it was uploaded, and before its load, is uploaded anew', async () => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  const out = await world.out({ 'tables/t': 'id\n1\n' });
  const journal = startTestJournal(out);
  const kill = new AbortController();
  const fetch: typeof globalThis.fetch = async (...given) => {
    if (journal.table('t').isUploaded === true) kill.abort();
    kill.signal.throwIfAborted();
    return await world.fetch(...given);
  };
  const client = world.client({ fetch });
  await expect(world.push(out, { mapping, client, signal: kill.signal, journal })).rejects.toThrow('aborted');
  writeFileSync(`${out}/tables/t`, 'id\n2\n3\n');
  await world.push(out, { mapping });
  expect(await world.rows(`${bucket}.t`)).toEqual(['2', '3']);
});

test('a destination that was changed in between gets the rows; what is done, stays', async () => {
  const bucket = world.bucket();
  const to = (name: string) => ({
    tables: [{ source: 't', destination: `${bucket}.${name}`, incremental: true }],
  });
  const out = await world.out({ 'tables/t': 'id\n1\n' });
  await world.push(out, { mapping: to('a') });
  await world.push(out, { mapping: to('b') });
  await world.push(out, { mapping: to('a') });
  expect(await world.rows(`${bucket}.a`)).toEqual(['1']);
  expect(await world.rows(`${bucket}.b`)).toEqual(['1']);
});
