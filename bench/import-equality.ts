// Compares requests and records of imported connectors with those of the Airbyte CDK, over made-up answers, in two runs, the
// second of which has the state of the first. Prints a table, and what differs.
//
//   node bench/import-equality.ts FOLDER [--only shop,mail] [--streams 25] [--odd 0.05] [--rare 0.2] [--runs 3] [--json FILE] [--python python3]
//
// FOLDER has connectors: a folder each with manifest.yaml, and components.py and schemas beside it. The CDK is installed into
// bench/.peers, a folder of its own; --python names another one that has it, and freezegun.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { importAirbyte } from '../src/authoring/importing/airbyte/index.ts';
import { compareAgainst } from '../src/authoring/importing/against/against.ts';
import { checked } from '../src/authoring/importing/check.ts';
import type { Imported, StreamReport } from '../src/authoring/importing/report.ts';
import { run, silentLog } from '../src/index.ts';
import { systemEnv } from '../src/lib/env.ts';
import { Secrets } from '../src/lib/secrets.ts';
import { behind, redirected } from './import-equality/redirected.ts';
import { keyOf, NEVER_ASKED, Replay, type Exchange } from './import-equality/replay.ts';
import { TheirReader, type TheirRun } from './import-equality/their-reader.ts';
import { withFolder } from './support/folder.ts';

const AGAIN = '(again) ';
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    stream: { type: 'string' },
    streams: { type: 'string', default: '25' },
    odd: { type: 'string', default: '0' },
    rare: { type: 'string', default: '0' },
    runs: { type: 'string', default: '2' },
    json: { type: 'string' },
    keep: { type: 'string' },
    settings: { type: 'string' },
    python: { type: 'string', default: 'python3' },
  },
});

interface Verdict {
  readonly connector: string;
  readonly stream: string;
  readonly outcome: StreamReport['outcome'];
  readonly result: 'equal' | 'repeats' | 'requests' | 'records' | 'both' | 'not compared' | 'other error';
  /** The run that differs first, from 1. */
  readonly run: number;
  readonly lines: readonly string[];
  readonly requests: number;
  readonly records: number;
  readonly notes: readonly string[];
}

async function compareConnector(
  from: string,
  folder: string,
  replay: Replay,
  base: string,
): Promise<Verdict[]> {
  const manifest = redirected(from, folder, base);
  const out = path.join(folder, 'out');
  mkdirSync(out);
  const connector = path.basename(from);
  const own = given.settings === undefined ? undefined : path.join(given.settings, `${connector}.json`);
  if (own !== undefined && existsSync(own))
    writeFileSync(path.join(out, 'own-settings.json'), behind(base, readFileSync(own, 'utf8')));
  const reader = new TheirReader(manifest, out, {
    base,
    odd: given.odd,
    rare: given.rare,
    runs: given.runs,
    python,
  });
  try {
    const settings = await reader.settings();
    const imported = await checked(
      importAirbyte(readFileSync(manifest, 'utf8'), {
        file: manifest,
        name: connector,
        settings: settings as {},
        readBeside(file) {
          const place = path.join(path.dirname(manifest), file);
          return existsSync(place) ? readFileSync(place, 'utf8') : undefined;
        },
      }),
    );
    const claimed = imported.report.streams.filter(({ outcome }) => outcome !== 'not');
    console.log(`${connector}: ${claimed.length} of ${imported.report.streams.length} claimed`);
    const chosen = claimed.filter(
      (each) => given.stream === undefined || given.stream.split(',').includes(each.stream),
    );
    const verdicts: Verdict[] = [];
    for (const report of sample(chosen, Number(given.streams))) {
      const runs = await reader.read(report.stream);
      if (given.keep !== undefined) {
        mkdirSync(given.keep, { recursive: true });
        writeFileSync(
          path.join(given.keep, `${connector}-${report.stream}.json`),
          JSON.stringify({ runs, row: report.row, imported }, null, 1),
        );
      }
      const verdict = await compareStream({ connector, report, runs, imported, folder, replay });
      verdicts.push(verdict);
      // a connector that the other tool does not take
      if (
        verdicts.length === 2 &&
        verdicts.every((each) => each.result === 'not compared' && each.requests === 0)
      )
        return verdicts;
      if (verdict.result !== 'equal' || given.stream !== undefined) console.log(shown(verdict));
    }
    return verdicts;
  } finally {
    reader.end();
  }
}

/** Returns the Python that has the other tool, which is installed where it is not yet. */
function installed(): string {
  const has = (program: string): boolean => succeeds(program, '-c', 'import airbyte_cdk, freezegun');
  const own = path.join(import.meta.dirname, '.peers/bin/python');
  const there = [given.python, own].find(has);
  if (there !== undefined) return there;
  if (!existsSync(own)) succeeds(given.python, '-m', 'venv', path.dirname(path.dirname(own)));
  if (succeeds(own, '-m', 'pip', 'install', '--quiet', 'airbyte-cdk==7.39.1', 'freezegun')) return own;
  throw new Error('airbyte-cdk and freezegun cannot be installed.');
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Returns as many as are wanted, from all parts of the list. */
function sample<T>(all: readonly T[], count: number): readonly T[] {
  return all.length <= count
    ? all
    : Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] as T);
}

interface Work {
  readonly connector: string;
  readonly report: StreamReport;
  readonly runs: readonly TheirRun[];
  readonly imported: Imported;
  readonly folder: string;
  readonly replay: Replay;
}

async function compareStream({ connector, report, runs, imported, folder, replay }: Work): Promise<Verdict> {
  const { stream, outcome, row = '' } = report;
  const verdict = (result: Verdict['result'], count: number, lines: readonly string[]): Verdict => ({
    connector,
    stream,
    outcome,
    result,
    run: count + 1,
    lines,
    requests: runs.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    records: runs.reduce((sum, { records }) => sum + records.length, 0),
    notes: runs.flatMap(({ notes = [] }) => notes),
  });
  const data = path.join(folder, 'data');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  writeFileSync(path.join(data, 'config.json'), JSON.stringify(imported.configuration));
  const place = path.join(data, 'rows', row);
  let repeats: readonly string[] = [];
  // each tool keeps a login as long as it likes
  const logins = runs.flatMap(({ exchanges }) => exchanges.filter((each) => each.stream === null));
  for (const [count, theirs] of runs.entries()) {
    if (theirs.error !== null && (/TooMuch/.test(theirs.error) || theirs.exchanges.length === 0))
      return verdict('not compared', count, [theirs.error]);
    // where more rows are read than there, those of the first run come again
    const before = outcome === 'more rows' ? runs.slice(0, count).flatMap(({ exchanges }) => exchanges) : [];
    replay.take([...theirs.exchanges, ...logins, ...before]);
    let failure: string | undefined;
    // a wait for a moment ends
    let waitedMs = 0;
    try {
      await run({
        dataFolder: data,
        rows: [row],
        log: silentLog,
        keepRecording: 0,
        resume: false,
        env: {
          ...systemEnv,
          now: () => (theirs.now ?? 0) + waitedMs,
          sleep: async (ms) => void (waitedMs += ms),
        },
      });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    // a parent that is read from the start again has rows by now that were never asked for there
    if (outcome === 'more rows' && count > 0 && failure?.includes(NEVER_ASKED) === true)
      return verdict('not compared', count, [failure]);
    if (theirs.error !== null && failure !== undefined)
      return verdict('not compared', count, [`both failed: ${theirs.error}`, failure]);
    const requests = requestLines([...theirs.exchanges, ...logins], replay.asked);
    const again =
      requests.length > 0 &&
      requests.every((line) => line.startsWith(`  ${AGAIN}`) || line.endsWith('made there and here'));
    if (again && theirs.error === null && failure === undefined) {
      const once = [...new Set(theirs.records.map((record) => JSON.stringify(record)))].map(
        (text) => JSON.parse(text) as unknown,
      );
      if (
        (await recordLines(report, { ...theirs, records: once, texts: [] }, imported, data, folder))
          .length === 0
      ) {
        repeats = requests;
        carryOn(place);
        continue;
      }
    }
    if (theirs.error !== null)
      return verdict('other error', count, [theirs.error.slice(0, 600), ...requests]);
    const records =
      failure === undefined
        ? await recordLines(report, theirs, imported, data, folder)
        : [`failed here: ${failure}`];
    if (
      outcome === 'more rows' &&
      failure === undefined &&
      !records.some((line) => /(there, and not here|other values|none there|No rows here)/.test(line))
    ) {
      carryOn(place);
      continue;
    }
    if (requests.length > 0 || records.length > 0) {
      const result =
        requests.length > 0 && records.length > 0 ? 'both' : requests.length > 0 ? 'requests' : 'records';
      return verdict(result, count, [...requests, ...records]);
    }
    carryOn(place);
  }
  if (repeats.length > 0) return verdict('repeats', 0, repeats);
  return runs.every(({ exchanges }) => exchanges.length === 0)
    ? verdict('not compared', 0, ['no requests'])
    : verdict('equal', runs.length - 1, []);
}

/** Gives the state of a run to the next one. */
function carryOn(place: string): void {
  mkdirSync(path.join(place, 'in'), { recursive: true });
  const state = path.join(place, 'out/state.json');
  if (existsSync(state)) copyFileSync(state, path.join(place, 'in/state.json'));
}

/** Returns the requests that one side alone has made. How often a tool logs in is its own affair. */
function requestLines(exchanges: readonly Exchange[], asked: readonly string[]): readonly string[] {
  const keyed = exchanges.map((each) => ({
    key: keyOf(each.method, each.url, each.headers, each.body),
    each,
  }));
  const logins = new Set(keyed.filter(({ each }) => each.stream === null).map(({ key }) => key));
  const theirs = keyed.map(({ key }) => key).filter((key) => !logins.has(key));
  const ours = asked.filter((key) => !logins.has(key));
  return [
    ...told('there alone', without(theirs, ours), new Set(ours)),
    ...told('here alone', without(ours, theirs), new Set(theirs)),
  ];
}

/** Returns the items of a list that another has less often. */
function without(all: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const key of others) counts.set(key, (counts.get(key) ?? 0) + 1);
  return all.filter((key) => {
    const left = counts.get(key) ?? 0;
    counts.set(key, left - 1);
    return left <= 0;
  });
}

function told(what: string, keys: readonly string[], known: ReadonlySet<string>): readonly string[] {
  if (keys.length === 0) return [];
  const shown = keys.slice(0, 3).map((key) => `  ${known.has(key) ? AGAIN : ''}${key.slice(0, 600)}`);
  const isNew = keys.some((key) => !known.has(key));
  return [`${keys.length} requests ${what}${isNew ? '' : ', which were made there and here'}`, ...shown];
}

async function recordLines(
  report: StreamReport,
  theirs: TheirRun,
  imported: Imported,
  data: string,
  folder: string,
): Promise<readonly string[]> {
  const records = path.join(folder, 'records');
  rmSync(records, { recursive: true, force: true });
  mkdirSync(records);
  const tables = path.join(data, 'rows', report.row ?? '', 'out/tables');
  if (theirs.records.length === 0) {
    const rows = existsSync(tables) ? readdirSync(tables).filter((name) => !name.endsWith('.manifest')) : [];
    const lines = rows.reduce((sum, name) => {
      const place = path.join(tables, name);
      return sum + (statSync(place).isFile() ? readFileSync(place, 'utf8').split('\n').length - 2 : 0);
    }, 0);
    return lines > 0 ? [`${lines} rows here, none there`] : [];
  }
  const texts = report.columns.flatMap((line) => /^“(.*)” is JSON text/.exec(line)?.[1] ?? []);
  const lines = theirs.records.map((record, index) => {
    const data = structuredClone(record) as Record<string, unknown>;
    for (const name of texts) {
      const text = theirs.texts?.[index]?.[name];
      if (text === undefined) asText(data, name.split('.'));
      else data[name] = text;
    }
    return JSON.stringify({ type: 'RECORD', record: { stream: report.stream, data } });
  });
  writeFileSync(path.join(records, 'stream.jsonl'), `${lines.join('\n')}\n`);
  const alone: Imported = { ...imported, report: { ...imported.report, streams: [report] } };
  const { report: compared } = await compareAgainst(alone, {
    records,
    tables: data,
    environment: {},
    env: systemEnv,
    secrets: new Secrets(),
    signal: new AbortController().signal,
  });
  const found = compared.streams[0]?.compared ?? { result: 'not compared', lines: [] };
  const { result } = found;
  return result === 'equal' || (result === 'other columns' && report.outcome !== 'exact')
    ? []
    : [`${result}:`, ...found.lines];
}

/** Makes an object or a list at a path JSON text. */
function asText(value: unknown, [key = '', ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const target = value as Record<string, unknown>;
  const inner = target[key];
  if (rest.length > 0) asText(inner, rest);
  else if (typeof inner === 'object' && inner !== null) target[key] = JSON.stringify(inner);
}

function shown({ stream, outcome, result, run: number, lines, requests, records, notes }: Verdict): string {
  return [
    `  ${stream} (${outcome}): ${result} in run ${number} (${requests} requests, ${records} records${notes.length > 0 ? `, ${notes.join(', ')}` : ''})`,
    ...lines.slice(0, 14).map((line) => `    ${line.slice(0, 330)}`),
  ].join('\n');
}

const sizeOf = (folder: string): number => statSync(path.join(folder, 'manifest.yaml')).size;
const [source = '.'] = positionals;
const found = globSync('**/manifest.yaml', { cwd: source })
  .map((file) => path.dirname(path.resolve(source, file)))
  .filter(
    (folder) =>
      given.only === undefined || given.only.split(',').some((word) => path.basename(folder).endsWith(word)),
  )
  .toSorted((a, b) => sizeOf(a) - sizeOf(b));
const python = installed();
const all: Verdict[] = [];
const replay = new Replay();
const base = await replay.start();
for (const from of found)
  try {
    await withFolder(
      async (folder) => void all.push(...(await compareConnector(from, folder, replay, base))),
    );
  } catch (error) {
    console.log(
      `${path.basename(from)}: not compared: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
replay.stop();
for (const outcome of ['exact', 'equal rows, other columns', 'more rows'] as const) {
  const those = all.filter((each) => each.outcome === outcome);
  const counts = Object.entries(Object.groupBy(those, ({ result }) => result)).map(
    ([name, list]) => `${name} ${list.length}`,
  );
  console.log(`${outcome}: ${those.length} (${counts.join(', ')})`);
}
if (given.json !== undefined) writeFileSync(given.json, JSON.stringify(all, null, 1));
