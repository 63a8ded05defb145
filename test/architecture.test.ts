import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Where a file belongs; the names are those of the table below. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:json|csv|encryption)\//, 'leaf'],
  [
    /^(?:advice|errors|log|redact|env|evaluate|bytes|file-lock|given-log|merge-request|on-demand|secrets|settings|shell-word|shown-text|sqlite|suggest|names|private-files|reason|traits|completeness|version|escapes|trim|thousands)\.ts$/,
    'leaf',
  ],
  [/^http\/message\.ts$/, 'message'],
  [/^http\//, 'http'],
  [/^language\//, 'language'],
  [/^formats\//, 'formats'],
  [/^jobs\//, 'jobs'],
  [/^pagination\//, 'pagination'],
  [/^records\//, 'records'],
  [/^sink\//, 'sink'],
  [/^verdict\//, 'verdict'],
  [/^recording\//, 'recording'],
  [/^config\//, 'config'],
  [/^extract(?:\.ts|\/)/, 'extract'],
  [/^mapping\//, 'mapping'],
  [/^runner(?:\.ts|\/)/, 'runner'],
  [/^actions(?:\.ts|\/)/, 'actions'],
  [/^runs\//, 'runs'],
  [/^workshop\//, 'workshop'],
  [/^importing\//, 'importing'],
  [/^init\//, 'init'],
  [/^testing\//, 'testing'],
  [/^explain\//, 'explain'],
  [/^logging\//, 'logging'],
  [/^demo\//, 'demo'],
  [/^cli\//, 'cli'],
  [/^component\.ts$/, 'component'],
  [/^index\.ts$/, 'index'],
  [/^(?:process|young-memory)\.ts$/, 'process'],
  [/^storage\/protocol\//, 'protocol'],
  [/^storage\/client\//, 'client'],
  [/^storage\/server\//, 'server'],
  [/^storage\/open\//, 'open'],
];

const STAGES = ['http', 'jobs', 'pagination', 'records', 'sink', 'verdict'];
const ENGINE = ['leaf', 'message', 'language', 'formats', ...STAGES, 'recording', 'config', 'extract'];

/** What each part may import, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  leaf: [],
  message: ['leaf'],
  language: ['leaf', 'message'],
  formats: ['leaf', 'message'],
  ...Object.fromEntries(STAGES.map((stage) => [stage, ['leaf', 'message', 'language', 'formats']])),
  recording: ['leaf', 'message', 'sink'],
  config: ['leaf', 'message', 'language', 'formats', ...STAGES],
  extract: ENGINE,
  actions: ENGINE,
  importing: ['leaf', 'config'],
  init: [...ENGINE, 'actions'],
  mapping: ['leaf', 'message', 'sink', 'client', 'protocol'],
  runner: [...ENGINE, 'explain', 'actions', 'mapping', 'client', 'open'],
  runs: ['leaf', 'recording', 'config', 'mapping', 'verdict', 'runner', 'protocol', 'server'],
  workshop: ['leaf', 'config', 'init', 'runner', 'recording', 'explain', 'runs', 'protocol', 'server'],
  explain: ['leaf', 'recording', 'verdict'],
  testing: [...ENGINE, 'runner', 'explain'],
  logging: ['leaf'],
  demo: ['leaf'],
  process: ['leaf'],
  cli: [
    ...ENGINE,
    'init',
    'runner',
    'runs',
    'mapping',
    'process',
    'logging',
    'testing',
    'explain',
    'client',
    'protocol',
    'open',
    'server',
    'demo',
    'importing',
    'workshop',
  ],
  component: [...ENGINE, 'runner', 'process', 'logging', 'actions'],
  index: [...ENGINE, 'runner', 'actions', 'testing', 'component', 'client', 'protocol', 'open'],
  protocol: ['leaf'],
  client: ['leaf', 'protocol', 'message', 'http'],
  server: ['leaf', 'protocol'],
  open: ['leaf', 'protocol', 'client', 'server'],
};

interface Import {
  readonly file: string;
  readonly target: string;
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(path.sep).join('/'))
  .filter((name) => name.endsWith('.ts'))
  .toSorted();

describe('folders', () => {
  test('every file belongs to a part', () => {
    expect(FILES.filter((file) => partOf(file) === undefined)).toEqual([]);
  });

  test('imports go one way', () => {
    const wrong = FILES.flatMap(importsOf).filter(({ file, target }) => !isAllowed(file, target));
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  test('a forbidden edge would be seen', () => {
    expect(isAllowed('jobs/job.ts', 'http/send/node.ts')).toBe(false);
    expect(isAllowed('jobs/job.ts', 'http/message.ts')).toBe(true);
    expect(isAllowed('storage/server/http/app.ts', 'extract.ts')).toBe(false);
    expect(
      importsIn(
        'jobs/a.ts',
        "import type { A } from '../http/b.ts';\nawait import('./c.ts');\nexport * from '../json/index.ts';",
      ),
    ).toEqual(['http/b.ts', 'jobs/c.ts', 'json/index.ts']);
  });

  test('imports end in .ts and lead to files', () => {
    const missing = FILES.flatMap(importsOf).filter(
      ({ target }) => !FILES.includes(target) && !target.endsWith('.json'),
    );
    expect(missing.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });
});

test('SQLite is loaded where older versions of the runtime are kept from talking on stderr', () => {
  const importing = FILES.filter((file) => /^import (?!type ).*'node:sqlite'/m.test(codeOf(file)));
  expect(importing).toEqual([]);
  const loading = FILES.filter((file) => /getBuiltinModule\('node:sqlite'\)/.test(codeOf(file)));
  expect(loading).toEqual(['sqlite.ts']);
});

describe('clock and randomness come from Env', () => {
  const OUTSIDE =
    /\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)|\brandomUUID\(|\bperformance\.now\(|\bsetTimeout\(/;
  /** Timers of sockets are no clock of a run: they only end a connection. */
  const TIMERS = /^http\/(?:send\/(?:node|got|bottom|network)|tunnel\/(?:socket|proxy))\.ts$/;

  test.each([...STAGES, 'recording', 'config', 'extract'])('%s', (part) => {
    const wrong = FILES.filter((file) => partOf(file) === part && !TIMERS.test(file)).flatMap((file) =>
      codeOf(file)
        .split('\n')
        .flatMap((line, i) => (OUTSIDE.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );
    expect(wrong).toEqual([]);
  });
});

/*
 * An accessor in a literal belongs to its hidden class, which only a full collection frees, and with it all that the
 * accessor sees. In what is made for each page or row that keeps pages alive for long: a method, or a class, does not.
 */
describe('nothing that is made for each page has an accessor in a literal', () => {
  const ACCESSOR = /^ {4,}[gs]et \w+\(/;
  /** Made once in a run. */
  const ONCE = /^(?:http\/tunnel\/ways|records\/legacy\/parser)\.ts$/;

  test.each(['leaf', 'message', 'language', 'formats', ...STAGES, 'recording', 'extract'])('%s', (part) => {
    const wrong = FILES.filter((file) => partOf(file) === part && !ONCE.test(file)).flatMap((file) =>
      codeOf(file)
        .split('\n')
        .flatMap((line, i) => (ACCESSOR.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );
    expect(wrong).toEqual([]);
  });
});

function partOf(file: string): string | undefined {
  return PARTS.find(([pattern]) => pattern.test(file))?.[1];
}

function isAllowed(file: string, target: string): boolean {
  const [from = '', to = ''] = [partOf(file), partOf(target)];
  return from === to || (ALLOWED[from] ?? []).includes(to);
}

function importsOf(file: string): Import[] {
  return importsIn(file, codeOf(file)).map((target) => ({ file, target }));
}

/** Relative imports, exports and lazy imports, as paths below `src/`. */
function importsIn(file: string, code: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^;]*?\bfrom\s+'(\.[^']+)'/gm,
    /\bimport\(\s*'(\.[^']+)'\s*\)/g,
    /^import\s+'(\.[^']+)'/gm,
  ];
  return patterns
    .flatMap((pattern) =>
      Array.from(code.matchAll(pattern), (match) => ({ at: match.index, target: match[1] ?? '' })),
    )
    .toSorted((a, b) => a.at - b.at)
    .map(({ target }) => path.posix.join(path.posix.dirname(file), target));
}

/** Without comments, which may show imports. */
function codeOf(file: string): string {
  return readFileSync(path.join(SRC, file), 'utf8').replace(/^\s*(?:\/\*[^]*?\*\/|\/\/.*)$/gm, '');
}
