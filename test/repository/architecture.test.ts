import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** The rooms of `src`, each with those that it may import from. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  engine: ['lib'],
  storage: ['lib', 'engine'],
  runner: ['lib', 'engine', 'storage'],
  authoring: ['lib', 'engine', 'storage', 'runner'],
  service: ['lib', 'engine', 'storage', 'runner', 'authoring'],
  cli: ['lib', 'engine', 'storage', 'runner', 'authoring', 'service'],
  'index.ts': ['lib', 'engine', 'storage', 'runner', 'authoring', 'service', 'cli'],
};

const STAGES = ['http', 'jobs', 'pagination', 'records', 'sink', 'completeness'];

/** The parts of the engine: stages know nothing of each other. */
const ENGINE: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  language: ['shared'],
  formats: ['shared'],
  ...Object.fromEntries(STAGES.map((stage) => [stage, ['shared', 'language', 'formats']])),
  recording: ['shared', 'sink'],
  explain: ['shared', 'recording', 'completeness'],
  config: ['shared', 'language', 'formats', ...STAGES],
  extract: ['shared', 'language', 'formats', ...STAGES, 'recording', 'config'],
};

/** The storage: what both sides of its API say, and the client. */
const STORAGE: Readonly<Record<string, readonly string[]>> = { protocol: [], client: ['protocol'] };

/** The tiers of the service, from the composition down. */
const SERVICE: Readonly<Record<string, readonly string[]>> = {
  open: ['start', 'http', 'domain', 'stores', 'platform'],
  start: ['http', 'domain', 'stores', 'platform'],
  http: ['domain', 'stores', 'platform'],
  domain: ['stores', 'platform'],
  stores: ['platform'],
  platform: [],
};

/** The order inside of the rooms that have one. */
const PARTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  engine: ENGINE,
  storage: STORAGE,
  service: SERVICE,
};

/** Parts of the engine that the rooms beside it may use. */
const OF_ENGINE: Readonly<Record<string, readonly string[]>> = {
  // The client sends its requests as the engine does.
  storage: ['shared', 'http'],
  service: ['shared', 'config', 'recording', 'explain', 'completeness'],
};

interface Import {
  readonly file: string;
  readonly target: string;
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(path.sep).join('/'))
  .filter((name) => name.endsWith('.ts'))
  .toSorted();

describe('rooms', () => {
  test('every file has its room, and its part of it', () => {
    expect(FILES.filter((file) => ROOMS[roomOf(file)] === undefined || partOf(file) === undefined)).toEqual(
      [],
    );
  });

  test('imports go one way', () => {
    const wrong = FILES.flatMap(importsOf).filter(({ file, target }) => !isAllowed(file, target));
    expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  test('a forbidden edge would be seen', () => {
    expect(isAllowed('engine/jobs/job.ts', 'engine/http/send/transport.ts')).toBe(false);
    expect(isAllowed('engine/jobs/job.ts', 'engine/shared/message.ts')).toBe(true);
    expect(isAllowed('engine/jobs/job.ts', 'runner/run.ts')).toBe(false);
    expect(isAllowed('service/http/app.ts', 'engine/extract/extract.ts')).toBe(false);
    expect(isAllowed('service/http/app.ts', 'service/stores/metadata/runs.ts')).toBe(true);
    expect(isAllowed('service/stores/metadata/runs.ts', 'service/domain/context.ts')).toBe(false);
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

  test('the readme and the guide name the entries of src, and no others', () => {
    const entries = readdirSync(SRC).toSorted();
    expect(entries).toEqual(Object.keys(ROOMS).toSorted());
    for (const guide of ['README.md', 'docs/architecture.md'])
      expect([guide, roomsNamedIn(readFileSync(path.join(SRC, '..', guide), 'utf8'))]).toEqual([
        guide,
        entries,
      ]);
  });
});

test('SQLite is loaded where older versions of the runtime are kept from talking on stderr', () => {
  const importing = FILES.filter((file) => /^import (?!type ).*'node:sqlite'/m.test(codeOf(file)));
  expect(importing).toEqual([]);
  const loading = FILES.filter((file) => /getBuiltinModule\('node:sqlite'\)/.test(codeOf(file)));
  expect(loading).toEqual(['lib/sqlite.ts']);
});

describe('clock and randomness come from Env', () => {
  const OUTSIDE =
    /\bDate\.now\(|\bMath\.random\(|\bnew Date\(\s*\)|\brandomUUID\(|\bperformance\.now\(|\bsetTimeout\(/;
  /** Timers of sockets are no clock of a run: they only end a connection. */
  const TIMERS = /^engine\/http\/send\/limits\.ts$/;

  test.each([...STAGES, 'recording', 'config', 'extract'])('%s', (part) => {
    const wrong = FILES.filter((file) => file.startsWith(`engine/${part}/`) && !TIMERS.test(file)).flatMap(
      (file) =>
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
  const ONCE = /^engine\/records\/legacy\/parser\.ts$/;

  test.each([
    'lib',
    ...Object.keys(ENGINE)
      .filter((part) => part !== 'config')
      .map((part) => `engine/${part}`),
  ])('%s', (part) => {
    const wrong = FILES.filter((file) => file.startsWith(`${part}/`) && !ONCE.test(file)).flatMap((file) =>
      codeOf(file)
        .split('\n')
        .flatMap((line, i) => (ACCESSOR.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
    );
    expect(wrong).toEqual([]);
  });
});

function roomOf(file: string): string {
  return file.split('/')[0] ?? '';
}

/** The folder below the room; the room itself where it has no order inside. */
function partOf(file: string): string | undefined {
  const [room = '', part = ''] = file.split('/');
  const parts = PARTS[room];
  if (parts === undefined) return room;
  return part in parts ? part : undefined;
}

function isAllowed(file: string, target: string): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  const [fromPart = '', toPart = ''] = [partOf(file), partOf(target)];
  if (from === to) return fromPart === toPart || (PARTS[from]?.[fromPart] ?? []).includes(toPart);
  const ofEngine = to === 'engine' ? OF_ENGINE[from] : undefined;
  return (ROOMS[from] ?? []).includes(to) && (ofEngine === undefined || ofEngine.includes(toPart));
}

/** The entries of the tree of `src` that a guide draws: lines such as `  engine/   config to tables`. */
function roomsNamedIn(guide: string): string[] {
  const tree = /^src\/\n((?: {2}\S.*\n)+)/m.exec(guide)?.[1] ?? '';
  return Array.from(tree.matchAll(/^ {2}(\S+?)\/?\s/gm), ([, name = '']) => name).toSorted();
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
