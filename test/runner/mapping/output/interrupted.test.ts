import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import {
  openJournal,
  type FileEntry,
  type Journal,
  type JournalTable,
} from '../../../../src/runner/mapping/journal.ts';
import { bytesBody } from '../../../../src/storage/client/index.ts';
import { textOf } from '../../../storage/client/support.ts';
import { mappingError, startTestJournal, useWorld } from './support.ts';
import { isAll, sample } from '../../../support/sample.ts';

const world = useWorld();

/** Output to push, and the content of the storage when it was pushed once. */
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
    (await client.files.list({ tags: [tag] })).map(
      async ({ id }) => await textOf(await client.files.read(id)),
    ),
  );
  // None that was prepared and never sent, either: whoever reads the files of a tag would stumble over it.
  expect(contents).toEqual(wanted);
}

const SIDE_BY_SIDE = 4;

/**
 * Plays the rounds of a test, several at a time, until one of them finds nothing more to do; or a few of them, where not
 * everything is tested. There are so many at least.
 */
async function rounds(
  play: (at: number) => Promise<boolean>,
  { from = 0, atLeast }: { readonly from?: number; readonly atLeast: number },
): Promise<void> {
  if (!isAll) {
    const chosen = sample(range(from, atLeast), 2);
    expect(await Promise.all(chosen.map(play))).toEqual(chosen.map(() => true));
    return;
  }
  for (let at = from; ; at += SIDE_BY_SIDE) {
    const played = await Promise.all(range(at, at + SIDE_BY_SIDE).map(play));
    if (!played.includes(false)) continue;
    expect(at + played.indexOf(false)).toBeGreaterThanOrEqual(atLeast);
    return;
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

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

function mortal(journal: Journal | undefined, check: (changes: FileEntry & JournalTable) => void): Journal {
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
  ])('$kind, killed before any of its steps', { timeout: 120_000 }, async ({ make, from, steps }) => {
    const play = async (at: number): Promise<boolean> => {
      const each = await make();
      const isKilled = await killedBefore(at, each);
      await expectOnce(each);
      return isKilled;
    };
    await rounds(play, { from, atLeast: steps });
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

function urlOf(input: Parameters<typeof fetch>[0]): string {
  return input instanceof Request ? input.url : input.toString();
}

/** Its index names no keys, and no header gives it one. */
const withoutKeys: typeof globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  headers.delete('idempotency-key');
  const answer = await world.fetch(input, { ...init, headers });
  if (!urlOf(input).includes('/v2/storage?')) return answer;
  return Response.json({ ...((await answer.json()) as object), features: [] });
};

test.each([
  ['that knows keys', async (...given: Parameters<typeof fetch>) => await world.fetch(...given)],
  ['that knows none', withoutKeys],
])('an import that arrives late loads nothing twice, at a service %s', async (_, fetch) => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  await world.push(await world.out({ 'tables/t': 'id\n1\n' }), { mapping });
  const out = await world.out({ 'tables/t': 'id\n2\n' });
  const kill = new AbortController();
  const held: (() => Promise<Response>)[] = [];
  const cutting: typeof globalThis.fetch = async (...given) => {
    if (!urlOf(given[0]).endsWith('/import-async')) return await fetch(...given);
    held.push(async () => await fetch(given[0], { ...given[1], signal: null }));
    if (held.length === 2) kill.abort();
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('cut'), { code: 'ECONNRESET' }) });
  };
  const client = world.client({ fetch: cutting });
  await expect(world.push(out, { mapping, client, signal: kill.signal })).rejects.toThrow('aborted');
  const { tables } = await world.push(out, { mapping, client: world.client({ fetch }) });
  expect(tables[0]?.rows).toBe(1);
  expect(held.length).toBeGreaterThan(1);
  for (const late of held) await (await late()).text();
  await world.client().tables.detail(`${bucket}.t`);
  const jobs = await world.client().jobs.list({ limit: 10 });
  for (const job of jobs)
    await world
      .client()
      .jobs.wait(job)
      .catch(() => undefined);
  expect(await world.rows(`${bucket}.t`)).toEqual(['1', '2']);
});

test.each([
  ['that knows keys', async (...given: Parameters<typeof fetch>) => await world.fetch(...given)],
  ['that knows none', withoutKeys],
])(
  'a table that a killed process had made is not loaded a second time, at a service %s',
  async (_, fetch) => {
    const bucket = world.bucket();
    const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
    const out = await world.out({ 'tables/t': 'id\n1\n' });
    const kill = new AbortController();
    const killing: typeof globalThis.fetch = async (...given) => {
      const answer = await fetch(...given);
      if (!urlOf(given[0]).endsWith('/tables-async')) return answer;
      const { id } = (await answer.json()) as { id: number };
      await world.client().jobs.wait(id);
      kill.abort();
      throw new Error('killed');
    };
    const client = world.client({ fetch: killing });
    await expect(world.push(out, { mapping, client, signal: kill.signal })).rejects.toThrow('aborted');
    await world.push(out, { mapping, client: world.client({ fetch }) });
    expect(await world.rows(`${bucket}.t`)).toEqual(['1']);
  },
);

test('a journal whose numbers are another client’s after a restore is not trusted', async () => {
  const bucket = world.bucket();
  const mapping = { tables: [{ source: 't', destination: `${bucket}.t`, incremental: true }] };
  const out = await world.out({ 'tables/t': 'id\n1\n' });
  const client = world.client();
  const file = await client.files.upload(bytesBody('id\nforeign\n'), { name: 't.csv' });
  await client.buckets.create({ name: `${bucket.slice('in.c-'.length)}-other` });
  const other = `${bucket}-other`;
  const job = await client.tables.startCreate(other, { name: 'x', dataFileId: file.id });
  await client.jobs.wait(job);
  const entries: JournalTable[] = [
    { fileId: file.id, fileName: 't-0.csv', isUploaded: true, asked: true, jobId: job.id },
    {
      fileId: file.id,
      fileName: 't-0.csv',
      isUploaded: true,
      asked: true,
      jobId: job.id,
      done: true,
      rows: 1,
    },
    { fileId: file.id, fileName: 't-0.csv', isUploaded: true, asked: true },
    { fileId: file.id, fileName: 't-0.csv', isUploaded: true },
  ];
  for (const [i, entry] of entries.entries()) {
    const journal = startTestJournal(out);
    journal.updateTable('t', { destination: `${bucket}.t`, ...entry });
    await world.push(out, { mapping });
    expect(await world.rows(`${bucket}.t`)).toEqual(Array.from({ length: i + 1 }, () => '1'));
  }
  expect((await client.files.detail(file.id)).name).toBe('t.csv');
});

test('answers that are lost, whichever they are, change nothing', async () => {
  await rounds(
    async (at) => {
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
    },
    { atLeast: 13 },
  );
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

test('a step whose job has failed is asked for again under another key', async () => {
  const bucket = world.bucket();
  const table = { source: 't', destination: `${bucket}.t`, incremental: true };
  await world.push(await world.out({ 'tables/t': 'id\n1\n' }), { mapping: { tables: [table] } });
  const out = await world.out({ 'tables/t': 'id\n2\n' });
  const keys: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { method, url, headers } = new Request(input, init);
    const response = await world.fetch(input, init);
    if (method === 'DELETE' && url.includes('/rows')) keys.push(headers.get('idempotency-key'));
    else if (keys.length === 1 && /\/jobs\/\d+$/.test(url)) {
      const job = (await response.json()) as object;
      return Response.json({ ...job, status: 'error', error: { code: 'x', message: 'no room' } });
    }
    return response;
  };
  const mapping = { tables: [{ ...table, delete_where_column: 'id', delete_where_values: ['1'] }] };
  const push = async () => await world.push(out, { mapping, client: world.client({ fetch }) });
  expect((await mappingError(push())).message).toContain('no room');
  await push();
  expect(new Set(keys).size).toBe(2);
  expect(await world.rows(`${bucket}.t`)).toEqual(['2']);
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
  const { tables } = await world.push(out, { mapping: to('a') });
  expect(tables).toMatchObject([{ source: 't', destination: `${bucket}.a`, rows: 1, wasDone: true }]);
  expect(await world.rows(`${bucket}.a`)).toEqual(['1']);
  expect(await world.rows(`${bucket}.b`)).toEqual(['1']);
});

/** Between the client and a service that knows no keys: what asks for a load is passed on twice, and done before the file is deleted. */
const twins: number[] = [];
const twice: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  headers.delete('idempotency-key');
  const url = new URL(input instanceof Request ? input.url : String(input));
  if (init?.method === 'DELETE')
    for (const id of twins.splice(0))
      await world
        .client()
        .jobs.wait(id)
        .catch(() => undefined); // its file may be gone
  const ask = async (): Promise<Response> => await world.fetch(input, { ...init, headers });
  const answer = await ask();
  if (url.pathname.endsWith('/import-async')) twins.push(((await (await ask()).json()) as { id: number }).id);
  if (!url.pathname.endsWith('/v2/storage')) return answer;
  return Response.json({ ...((await answer.json()) as object), features: [] });
};

test('a load that is passed on twice to a service without keys is told, once', async () => {
  const bucket = world.bucket();
  const client = world.client({ fetch: twice });
  const { buckets, tables } = world.client();
  await buckets.create({ name: bucket.replace('in.c-', '') });
  await tables.define(bucket, { name: 'plain', columns: ['id'] });
  const mapping = {
    tables: ['plain', 'new'].map((source) => ({
      source,
      destination: `${bucket}.${source}`,
      incremental: true,
    })),
  };
  const content = 'id\n1\n';
  const out = await world.out({ 'tables/new': content, 'tables/plain': content });
  const error = await mappingError(world.push(out, { mapping, client, gzip: true }));
  expect(error.message).toContain(`“plain” were loaded into ${bucket}.plain twice`);
  expect(error.details['failed']).toMatchObject([{ code: 'push.doubled' }]);
  const again = await world.push(out, { mapping, client, gzip: true });
  expect(again.tables.map(({ wasDone }) => wasDone)).toEqual([true, true]);
  expect(await world.rows(`${bucket}.plain`)).toEqual(['1', '1']);
  expect(await world.rows(`${bucket}.new`)).toEqual(['1']);
});
