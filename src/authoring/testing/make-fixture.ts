import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  collectSecrets,
  parseConfig,
  planRows,
  readConfig,
  resolveSecrets,
  resourceOf,
} from '../../engine/config/index.ts';
import { ExtractorError, RunError } from '../../lib/errors.ts';
import { readStory, type Story } from '../../engine/explain/trace.ts';
import { extract } from '../../engine/extract/extract.ts';
import { encodeExact, isObject, parseExact, type AnyObject, type Json } from '../../lib/json/index.ts';
import { silentLog } from '../../lib/log.ts';
import type { ExchangeJson } from '../../engine/recording/exchange.ts';
import { makeHead } from '../../engine/recording/head.ts';
import { Recorder } from '../../engine/recording/recorder.ts';
import type { OpenRecording } from '../../runner/recordings.ts';
import { Secrets } from '../../lib/secrets.ts';
import { guard } from '../../engine/sink/file-error.ts';
import { fixtureEnv } from './clock.ts';
import { ExchangeFiles } from './exchange-files.ts';
import { fixtureConfiguration } from './fixture-config.ts';
import { PageBodies } from './page-bodies.ts';
import { RecordedAnswers } from './recorded-answers.ts';
import { runFixtures } from './run-fixtures.ts';
import type { FixtureSettings } from './fixture-settings.ts';
import { isoTime } from '../../lib/iso-time.ts';

export interface MakeFixtureOptions {
  /** Its configuration was recorded. */
  readonly dataFolder: string;
  readonly recordings: readonly OpenRecording[];
  /** Made; it must not be there. */
  readonly folder: string;
  /** Ends each job after so many pages. */
  readonly pages?: number | undefined;
  /** Shortens each page to so many rows. */
  readonly rows?: number | undefined;
  /** Paths of personal data in the answers. */
  readonly mask?: readonly string[];
  /** Ids of rows of the configuration; all that are recorded by default. */
  readonly rowIds?: readonly string[];
  readonly signal: AbortSignal;
}

export interface MadeFixture {
  readonly folder: string;
  readonly exchanges: number;
  readonly tables: number;
  readonly rows: number;
  /** The authentication is left out, as it logs in. */
  readonly isOpen: boolean;
}

/**
 * Makes a folder for `gex test` from a recording, and tests it. There is no folder when that fails.
 *
 * @throws {RunError} what is missing in the recording, or what is different when it is tested
 */
export async function makeFixture(options: MakeFixtureOptions): Promise<MadeFixture> {
  const folder = path.resolve(options.folder);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new RunError('command.invalid', `The folder ${options.folder} is there, and it is not empty.`, {
      where: { file: folder },
      hint: 'Name a folder that is not there, or remove it.',
    });
  const unfinished = path.join(path.dirname(folder), `.${path.basename(folder)}.${process.pid}.tmp`);
  try {
    const made = await write(unfinished, options);
    const { results } = await runFixtures(unfinished, { signal: options.signal });
    const problems = results.flatMap((result) => result.problems);
    if (problems.length > 0)
      throw new RunError(
        'recording.invalid',
        'A fixture cannot be made of this recording: it gives another run each time.',
        {
          lines: problems.slice(0, 5),
          hint: 'Leave out what depends on something else than the answers, such as random values.',
        },
      );
    rmSync(folder, { recursive: true, force: true });
    guard(folder, () => renameSync(unfinished, folder));
    return { ...made, folder };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Writes the fixture, first with its authentication; without it if that logs in, or needs real keys. */
async function write(folder: string, options: MakeFixtureOptions): Promise<Omit<MadeFixture, 'folder'>> {
  const first = await attempt(folder, false, options);
  if (first !== undefined) return { ...first, isOpen: false };
  const second = await attempt(folder, true, options);
  if (second !== undefined) return { ...second, isOpen: true };
  throw new RunError('recording.missing', 'The run logs in, and logins are not recorded.', {
    hint: 'Write the fixture by hand: docs/testing.md shows its files.',
  });
}

type Made = Omit<MadeFixture, 'folder' | 'isOpen'>;

/** Tries to write the fixture; undefined when the authentication prevents it. */
async function attempt(
  folder: string,
  isOpen: boolean,
  options: MakeFixtureOptions,
): Promise<Made | undefined> {
  const { dataFolder, recordings, rows, rowIds = [], signal } = options;
  const limit = options.pages ?? limitOf(recordings);
  rmSync(folder, { recursive: true, force: true });
  const { value } = await readConfig(dataFolder);
  const secrets = secretsOf(value);
  const files = new ExchangeFiles(folder);
  const config = fixtureConfiguration(value, { isOpen, rows, rowIds });
  const settings: FixtureSettings = {
    clock: clockOf(recordings),
    nonce: 'c0ffee',
    ...(limit === undefined ? {} : { limit }),
  };
  files.write('config.json', config);
  files.write('fixture.json', settings as AnyObject);
  const bodies = new PageBodies(options.mask ?? []);
  const env = fixtureEnv(settings);
  const work = path.join(folder, '.work');
  let [tables, count] = [0, 0];
  for (const run of planRows(resourceOf(parseConfig(encodeExact(config)))).runs) {
    const recording = recordings.find(({ row }) => row === run.id);
    if (recording === undefined) throw notRecorded(run.id);
    const below = run.id === undefined ? '' : path.join('rows', run.id);
    const { file, scanned } = recording;
    const state = stateOf(parseExact(scanned.head.state));
    if (Object.keys(state).length > 0) files.write(path.join(below, 'in', 'state.json'), state);
    const story = readStory(file, scanned);
    const answers = new RecordedAnswers({
      story,
      bodyOf: ({ body, note, exchange, page }) => {
        refuseLarge(exchange, page);
        const last = note.stop?.code === 'shortPage' ? 1 : 0;
        const most = rows === undefined ? undefined : rows - last;
        const plain = redacted(bodies.change(file.bytes(body.at, body.bytes), note.rows, most), secrets);
        return exchange.unpacked === undefined ? plain : gzipSync(plain);
      },
      onExchange: (request, response) => {
        files.add(request, response);
        env.answered();
      },
    });
    const configuration = resolveSecrets(run.configuration, {});
    mkdirSync(work, { recursive: true });
    const subject = { row: run.id, configuration, state };
    const world = { env, secrets: new Secrets() };
    const recorder = Recorder.create(path.join(work, 'recording'), makeHead(subject, world), world);
    const outFolder = path.join(work, 'out');
    try {
      const done = await extract({
        configuration,
        state,
        outFolder,
        workFolder: path.join(work, 'work'),
        cacheFolder: path.join(work, 'cache'),
        env,
        log: silentLog,
        signal,
        limit,
        bottom: answers.send,
        recording: answers.over(recorder),
      });
      tables += done.tables.length;
      count += done.rows;
    } catch (error) {
      const isInTheWay =
        error instanceof ExtractorError && (answers.needsLogin || error.code === 'auth.failed');
      if (isInTheWay) return undefined;
      throw error;
    } finally {
      recorder.close();
    }
    const expected = path.join(folder, 'expected', below);
    cpSync(outFolder, expected, { recursive: true, filter: (name) => path.basename(name) !== 'report.json' });
    rmSync(work, { recursive: true, force: true });
  }
  const [unknown] = bodies.unknown;
  if (unknown !== undefined)
    throw new RunError('command.invalid', `No answer has anything at “${unknown}”, which --mask names.`, {
      hint: 'Write the keys on the way to it, such as user.email; list items need no number.',
    });
  files.finish();
  return { exchanges: files.count, tables, rows: count };
}

/** Returns the beginning of the run; if the run ended by time, also the times of the answers. */
function clockOf(recordings: readonly OpenRecording[]): string | readonly string[] {
  const [first] = recordings;
  const begun = isoTime(first?.scanned.head.startedAt ?? 0);
  if (first === undefined) return begun;
  const pages = pagesOf(readStory(first.file, first.scanned));
  const isTimed = pages.some(({ note }) => note.stop?.code === 'forceTime');
  return isTimed ? [begun, ...pages.map(({ exchange }) => isoTime(exchange.at))] : begun;
}

/** Returns the limit of a trial: pages behind it were not recorded. */
function limitOf(recordings: readonly OpenRecording[]): number | undefined {
  for (const { file, scanned } of recordings)
    for (const { note } of pagesOf(readStory(file, scanned)))
      if (note.stop?.code === 'limit') return note.stop.pages;
  return undefined;
}

function pagesOf({ jobs }: Story): Story['jobs'][number]['runs'][number]['pages'] {
  return jobs.flatMap(({ runs }) => runs.flatMap(({ pages }) => pages));
}

function secretsOf(configuration: Json): Secrets {
  const secrets = new Secrets();
  const resolved = isObject(configuration) ? resolvable(configuration) : configuration;
  for (const secret of [...collectSecrets(configuration), ...collectSecrets(resolved)]) secrets.add(secret);
  return secrets;
}

/**
 * Resolves the secrets; a variable that is not set here was not sent from here, and the configuration stays as it is.
 */
function resolvable(configuration: AnyObject): Json {
  try {
    return resolveSecrets(configuration, process.env);
  } catch {
    return configuration;
  }
}

function redacted(body: Uint8Array, secrets: Secrets): Uint8Array {
  const text = Buffer.from(body).toString('utf8');
  const open = secrets.redact(text);
  return open === text ? body : Buffer.from(open);
}

function stateOf(state: Json): AnyObject {
  return isObject(state) ? state : {};
}

function notRecorded(row: string | undefined): RunError {
  const of = row === undefined ? 'a configuration without rows' : `the row “${row}”`;
  return new RunError('recording.missing', `There is no recording of ${of}.`, {
    ...(row === undefined ? {} : { where: { row } }),
    hint: 'Run it, or name the rows that were recorded with --row.',
  });
}

/** Refuses large bodies: a fixture has them as they came, in a readable size. */
function refuseLarge({ position, large, unpacked }: ExchangeJson, page: number): void {
  if (large === undefined && unpacked?.as !== 'zip') return;
  const job = position.at(-1)?.job ?? '';
  throw new RunError(
    'recording.invalid',
    large === undefined
      ? `An answer of “${job}” was a zip file, of which only the contents were recorded.`
      : `An answer of “${job}” has ${large.bytes} bytes, which is too much for a fixture.`,
    { where: { job, page }, hint: 'Ask for less, or write the fixture by hand.' },
  );
}
