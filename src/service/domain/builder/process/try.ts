import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseConfig } from '../../../../engine/config/index.ts';
import { createDialect } from '../../../../lib/csv/dialect.ts';
import { readRows } from '../../../../lib/csv/read-csv.ts';
import { getKey, isList, isObject, parseExact, type Json } from '../../../../lib/json/index.ts';
import { reasonOf, RunError } from '../../../../lib/errors.ts';
import { systemEnv } from '../../../../lib/env.ts';
import { changesData } from '../../../../engine/shared/message.ts';
import type { Log } from '../../../../lib/log.ts';
import { unpack } from '../../../../engine/recording/pack.ts';
import type { RowResult, RunProgress } from '../../../../runner/run.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import type { AskedToTry, SentRequest, Tried, TriedTable } from '../builder-types.ts';
import { heldLogins } from './held-logins.ts';
import { keysIn } from './keys-in.ts';
import { RowsRead } from './rows-read.ts';
import { storiesOf } from './stories.ts';
import { toldError } from './told-error.ts';

interface World {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** Empty folder of this process alone. */
  readonly folder: string;
  /** Told of each request before it goes out. */
  readonly onSent: (request: SentRequest) => void;
  /** Told of logins that were renewed, before they are used. */
  readonly onLogins: (logins: string) => void;
}

/** Recordings up to this size go to the page and back. */
const MAX_RECORDING_BYTES = 8 * 1024 * 1024;
/** Largest earlier recording, in bytes, unpacked. */
const MAX_PLAIN_BYTES = 2 ** 28;
/** Most rows shown of each table. */
const SHOWN_ROWS = 300;
const SHOWN_TABLES = 50;
const SHOWN_WARNINGS = 20;
const SHOWN_LETTERS = 2000;
/** Most characters of a table: one with many columns shows fewer rows. */
const TABLE_LETTERS = 2_000_000;

/** Runs a configuration for a few pages, by the engine of every run: nothing is pushed, and no state changes. */
export async function tryOut(
  asked: AskedToTry,
  { log, secrets, signal, folder, onSent, onLogins }: World,
): Promise<Tried> {
  const record = path.join(folder, 'trial.gexr');
  const replay = path.join(folder, 'earlier.gexr');
  const { recording } = asked;
  if (recording !== undefined) await unpackEarlier(recording, replay, signal);
  const done: RowResult[] = [];
  const read = new RowsRead(secrets);
  const warnings = new Set<string>();
  let current: string | undefined;
  const enough = new AbortController();
  let sent = 0;
  const count: NonNullable<RunProgress['request']> = ({ request, answer }) => {
    if (answer !== undefined) return;
    if (sent === asked.maxRequests) return enough.abort(tooMany(sent));
    const [method = '', url = ''] = request.split(' ', 2);
    if (asked.onlyReads === true && changesData(method)) return enough.abort(notReading(method));
    sent++;
    onSent({ method, url });
  };
  const { run } = await import('../../../../runner/run.ts');
  const failure = await run({
    dataFolder: folder,
    // As it was sent: the output has no folder of this machine.
    document: parseConfig(asked.document),
    rows: asked.row === undefined ? [] : [asked.row],
    limit: asked.pages,
    environment: asked.environment ?? {},
    encryptionKeys: keysIn(asked.keys),
    encryptionScope: asked.scope,
    resume: false,
    ...(asked.logins === undefined
      ? {}
      : { logins: heldLogins({ ...asked, logins: asked.logins }, onLogins, systemEnv) }),
    log: {
      ...log,
      warn(text) {
        warnings.add(text);
        log.warn(text);
      },
    },
    secrets,
    signal: AbortSignal.any([signal, enough.signal]),
    ...(recording === undefined ? { record } : { replay }),
    progress: {
      rowStart: ({ id }) => (current = id),
      request: count,
      rows: (event) => read.see(current, event),
      rowEnd: (result) => done.push(result),
    },
  }).then(
    () => undefined,
    (error: unknown) => toldError(error, secrets),
  );
  const kept = recording === undefined ? record : replay;
  const tables = await tablesOf(done, folder, secrets);
  return {
    tables,
    jobs: done.flatMap((row) =>
      row.jobs.map((job) => ({ ...(row.id === undefined ? {} : { row: row.id }), ...job })),
    ),
    recordings: await storiesOf(folder, kept, { read, tables, secrets }),
    warnings: [...warnings].slice(0, SHOWN_WARNINGS),
    recording: recording ?? (await encoded(record)),
    ...(failure === undefined ? {} : { error: failure }),
  };
}

function tooMany(requests: number): RunError {
  return new RunError(
    'run.interrupted',
    `The trial was ended after ${requests} requests: no more are allowed.`,
    {
      hint: 'Try one row of the configuration alone, fewer pages, or let more requests be made.',
    },
  );
}

function notReading(method: string): RunError {
  return new RunError(
    'run.interrupted',
    `The trial was ended before a ${method} request: it changes data, and was not sent.`,
    {
      hint: 'An assistant sends GET and POST requests alone. The user may run the configuration with gex run.',
    },
  );
}

/** Unpacks an earlier recording. @throws {RunError} for a text that is no recording of a trial */
async function unpackEarlier(recording: string, replay: string, signal: AbortSignal): Promise<void> {
  const packed = `${replay}.packed`;
  await writeFile(packed, Buffer.from(recording, 'base64'));
  try {
    await unpack(packed, replay, { mostBytes: MAX_PLAIN_BYTES, signal });
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    throw new RunError('replay.invalid', `The recording of the earlier trial cannot be read: ${reason}`, {
      cause: error,
      hint: 'Try it out again without it.',
    });
  } finally {
    await rm(packed, { force: true });
  }
}

async function tablesOf(rows: readonly RowResult[], folder: string, secrets: Secrets): Promise<TriedTable[]> {
  const tables: TriedTable[] = [];
  for (const { id, out, tables: written } of rows)
    for (const { name, rows: rowsCount } of written.slice(0, SHOWN_TABLES - tables.length)) {
      const file = path.resolve(folder, out, 'tables', name);
      const manifest = parseExact(await readFile(`${file}.manifest`, 'utf8'));
      const [columns = [], ...shown] = await firstRows(file, secrets);
      tables.push({
        ...(id === undefined ? {} : { row: id }),
        name,
        columns,
        primaryKey: keyOf(manifest),
        incremental: isObject(manifest) && getKey(manifest, 'incremental') === true,
        rows: shown,
        rowsCount,
      });
    }
  return tables;
}

/** Returns the primary key of a manifest, which one with types says at its columns. */
function keyOf(manifest: Json): string[] {
  if (!isObject(manifest)) return [];
  const [key, schema] = [getKey(manifest, 'primary_key'), getKey(manifest, 'schema')];
  if (key !== undefined && isList(key)) return key.map(String);
  if (schema === undefined || !isList(schema)) return [];
  return schema
    .filter(isObject)
    .filter((column) => getKey(column, 'primary_key') === true)
    .map((column) => getKey(column, 'name'))
    .filter((name) => typeof name === 'string');
}

/** Reads the header and the first rows, with long cells cut. */
async function firstRows(file: string, secrets: Secrets): Promise<string[][]> {
  const { createReadStream } = await import('node:fs');
  const rows: string[][] = [];
  let letters = 0;
  for await (const row of readRows(createReadStream(file), createDialect())) {
    // A secret that is cut in two would not be found any more.
    const shown = row.map((cell) => secrets.redact(cell).slice(0, SHOWN_LETTERS).toWellFormed());
    rows.push(shown);
    letters += shown.reduce((sum, cell) => sum + cell.length, 0);
    if (rows.length > SHOWN_ROWS || letters > TABLE_LETTERS) break;
  }
  return rows;
}

async function encoded(file: string): Promise<string | null> {
  const bytes = await readFile(file).catch(() => undefined);
  return bytes === undefined || bytes.length > MAX_RECORDING_BYTES ? null : bytes.toString('base64');
}
