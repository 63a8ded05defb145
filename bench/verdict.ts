// Measures how often a run that lost rows reports it: styles of pagination × mistakes and misbehaviours × answers with
// and without signals, over HTTP on loopback.
//
//   node bench/verdict.ts [--quick] [--show] [--only WORDS]
//
// --quick: one shape of three; --show: every run that lost rows in silence, and every false alarm; --only: styles and
// mistakes whose names have the words
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../src/lib/env.ts';
import { extract } from '../src/engine/extract/extract.ts';
import { parseExact, isObject } from '../src/lib/json/index.ts';
import { silentLog } from '../src/lib/log.ts';
import { Secrets } from '../src/lib/secrets.ts';
import { describeDoubt, type JobReport } from '../src/engine/completeness/index.ts';
import { MISTAKES, type Mistake } from './verdict/mistakes.ts';
import { MORE_STYLES } from './verdict/more-styles.ts';
import { SIZE, STYLES as FIRST_STYLES, type Answer, type Row, type Style } from './verdict/styles.ts';

interface Case {
  readonly style: Style;
  readonly mistake: Mistake;
  readonly signs: boolean;
  readonly count: number;
  readonly hasIds: boolean;
}

interface Outcome extends Case {
  readonly lost: number;
  readonly twice: number;
  readonly warned: boolean;
  readonly told: string;
  readonly verdict: string;
}

const isShown = process.argv.includes('--show');
const MAX_PAGES = 12;
const only = process.argv.includes('--only') ? (process.argv[process.argv.indexOf('--only') + 1] ?? '') : '';
const STYLES = [...FIRST_STYLES, ...MORE_STYLES];

const lying = /^total too high$/;
/** Rows of the API, and whether they have ids: a short last page, a full one, a single page. */
const SHAPES = (
  [
    [37, true],
    [30, false],
    [6, true],
  ] as const
).slice(0, process.argv.includes('--quick') ? 1 : 3);

let current: Case | undefined;
let calls = 0;
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    calls++;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const sent: unknown = body === '' ? {} : JSON.parse(body);
    const params = Object.fromEntries([
      ...url.searchParams,
      ...Object.entries(isRecord(sent) ? sent : {}).map(([key, value]) => [key, String(value)] as const),
    ]);
    const { body: answer, headers = {} } = answerTo(params);
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(answer));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
// a server that listens on a port has an address with one
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const outcomes: Outcome[] = [];
for (const style of STYLES) {
  for (const mistake of MISTAKES) {
    if (mistake.appliesTo?.(style) === false) continue;
    if (!`${style.name} | ${mistake.name}`.includes(only)) continue;
    for (const signs of [true, false]) {
      for (const [count, hasIds] of SHAPES) {
        const outcome = await played({ style, mistake, signs, count, hasIds });
        if (outcome === undefined) continue;
        outcomes.push(outcome);
        if (isShown) show(outcome);
      }
    }
  }
}
server.close();
server.closeAllConnections();

const lost = outcomes.filter((each) => each.lost > 0);
const silent = lost.filter((each) => !each.warned);
/** With signs that could tell: a flag of more says nothing of a row that is missing. */
const told = lost.filter(({ signs, style, mistake }) => signs && isTold(style, mistake));
const whole = outcomes.filter((each) => each.lost === 0 && each.twice === 0);
const honest = whole.filter(({ mistake }) => !lying.test(mistake.name));
const alarms = honest.filter((each) => each.warned);
const doubled = outcomes.filter((each) => each.lost === 0 && each.twice > 0);
const of = (some: readonly Outcome[], signs: boolean): number =>
  some.filter((each) => each.signs === signs).length;

console.log(
  `${STYLES.length} styles, ${MISTAKES.length} mistakes and misbehaviours, ${outcomes.length} runs`,
);
console.log(
  `lost rows: ${lost.length}; without a warning: ${told.filter((each) => !each.warned).length} of ${told.length} with signs that could tell, ${of(silent, true)} of ${of(lost, true)} with any, ${of(silent, false)} of ${of(lost, false)} without`,
);
console.log(
  `rows twice, none lost: ${doubled.length}; without a warning: ${of(
    doubled.filter((each) => !each.warned),
    true,
  )} with signs, ${of(
    doubled.filter((each) => !each.warned),
    false,
  )} without`,
);
console.log(`whole: ${honest.length}; called doubtful: ${alarms.length}`);
console.log(
  `whole, with a total that is too high: ${whole.length - honest.length}; called doubtful: ${whole.filter((each) => lying.test(each.mistake.name) && each.warned).length}`,
);

function isTold({ says }: Style, { toldBy }: Mistake): boolean {
  return says === undefined || toldBy === undefined || toldBy.some((each) => says.includes(each));
}

async function played(given: Case): Promise<Outcome | undefined> {
  const { style, mistake, count, hasIds } = given;
  const plain = { pagination: { ...style.pagination, maxPages: MAX_PAGES }, params: { ...style.params } };
  const setting = mistake.configure === undefined ? plain : mistake.configure(style, plain);
  if (setting === undefined) return undefined;
  const { pagination, params } = setting;
  current = given;
  calls = 0;
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-verdict-'));
  const configuration = parseExact(
    JSON.stringify({
      parameters: {
        api: { baseUrl: `${base}/`, pagination, http: {}, retryConfig: { maxRetries: 0 } },
        config: {
          outputBucket: 'b',
          jobs: [
            {
              endpoint: 'users',
              dataType: 'users',
              params,
              ...(style.method === undefined ? {} : { method: style.method }),
              ...(style.dataField === undefined ? {} : { dataField: style.dataField }),
            },
          ],
        },
      },
    }),
  );
  let jobs: readonly JobReport[] = [];
  let error = '';
  try {
    if (!isObject(configuration)) throw new Error('a configuration is an object');
    ({ jobs } = await extract({
      configuration,
      state: {},
      outFolder: path.join(folder, 'out'),
      workFolder: path.join(folder, 'work'),
      cacheFolder: path.join(folder, 'cache'),
      env: systemEnv,
      log: silentLog,
      secrets: new Secrets(),
      signal: new AbortController().signal,
    }));
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const found = error === '' ? namesIn(path.join(folder, 'out', 'tables')) : [];
  rmSync(folder, { recursive: true, force: true });
  const seen = new Set(found);
  // a row that went away while the pages were read need not be there
  const must = rowsOf(count, hasIds)
    .map(({ name }) => String(name))
    .slice(mistake.name === 'a row goes at the front' && calls > 2 ? 1 : 0);
  const doubtful = jobs.find(({ verdict }) => verdict === 'doubtful');
  return {
    ...given,
    lost: error === '' ? must.filter((name) => !seen.has(name)).length : 1,
    twice: found.length - seen.size,
    warned: error !== '' || doubtful !== undefined,
    told:
      error !== ''
        ? error
        : doubtful === undefined
          ? (jobs[0]?.reasons[0]?.text ?? '')
          : describeDoubt(doubtful),
    verdict: jobs[0]?.verdict ?? 'error',
  };
}

function answerTo(params: Readonly<Record<string, string>>): Answer {
  if (current === undefined) throw new Error('nobody asks now');
  const { style, mistake, signs, count, hasIds } = current;
  const all = mistake.rows?.(rowsOf(count, hasIds), calls) ?? rowsOf(count, hasIds);
  const asked = Number(params[style.sizeParam] ?? SIZE);
  const size = Math.max(Math.min(asked, mistake.maxSize ?? asked), mistake.minSize ?? 0);
  const wanted = mistake.ignores === true ? 0 : style.read(params[style.from], size);
  const last = Math.max(0, (Math.ceil(all.length / size) - 1) * size);
  const moved = mistake.offset?.(wanted, calls) ?? wanted;
  const offset = mistake.clamps === true ? Math.min(moved, last) : moved;
  const rows =
    style.name.startsWith('Stripe') && mistake.ignores !== true
      ? afterId(all, params[style.from], size)
      : all.slice(offset, offset + size);
  const lastOf = rows.at(-1);
  const end = lastOf === undefined ? all.length : all.indexOf(lastOf) + 1;
  const slice = { rows, offset, size, total: all.length, next: end < all.length ? end : undefined };
  const answer = style.answer(mistake.slice?.(slice, calls) ?? slice, { params, base }, signs);
  return mistake.answer?.(answer, calls) ?? answer;
}

function afterId(rows: readonly Row[], id: string | undefined, size: number): readonly Row[] {
  const from = id === undefined ? 0 : rows.findIndex((row) => String(row.id) === id) + 1;
  return rows.slice(from, from + size);
}

/** Without an id, rows have a name that nobody takes for one. */
function rowsOf(count: number, hasIds: boolean): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const row = { id: i + 1, name: `n${i + 1}` };
    return hasIds || current?.style.name.startsWith('Stripe') === true
      ? row
      : ({ name: row.name } as unknown as Row); // the id is what is left out
  });
}

function namesIn(tables: string): string[] {
  const file = readdirSync(tables).find((name) => name === 'b.users');
  if (file === undefined) return [];
  const [head = '', ...lines] = readFileSync(path.join(tables, file), 'utf8').trimEnd().split('\n');
  const column = head.split(',').findIndex((name) => /^"(?:node_)?name"$/.test(name));
  return column < 0 ? [] : lines.map((line) => (line.split(',')[column] ?? '').replaceAll('"', ''));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show({
  style,
  mistake,
  signs,
  count,
  hasIds,
  warned,
  told,
  verdict,
  lost: gone,
  twice,
}: Outcome): void {
  const isAlarm = warned && gone === 0 && twice === 0 && !lying.test(mistake.name);
  const isSilent = !warned && (gone > 0 || twice > 0);
  if (mistake.name === 'none' && gone > 0) console.log(`THE STYLE IS WRONG ${style.name} | ${told}`);
  if (isAlarm || isSilent)
    console.log(
      `${warned ? 'FALSE ALARM' : 'SILENT'} ${mistake.name} | ${style.name} | signs ${signs}${signs && isTold(style, mistake) ? ', which could tell,' : ''} ids ${hasIds} rows ${count} | lost ${gone}, twice ${twice} | ${verdict} | ${told}`,
    );
}
