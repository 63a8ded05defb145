import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { ACTION_NAMES } from '../../src/authoring/actions/actions.ts';
import { ENTRIES } from '../../src/cli/cli.ts';
import type { Command, CommandEntry } from '../../src/cli/command.ts';
import { descend, isCommand, parseLine, usageOf } from '../../src/cli/parse.ts';
import { storageGroup } from '../../src/cli/storage.ts';
import { storageOptions } from '../../src/cli/storage/storage-command.ts';
import { validateConfig } from '../../src/engine/config/index.ts';
import { ERROR_CODES } from '../../src/lib/errors.ts';
import { AUTH_TYPES } from '../../src/engine/http/auth/index.ts';
import { FUNCTION_NAMES } from '../../src/engine/jobs/functions/index.ts';
import { getKey, isObject, keysOf, parseExact } from '../../src/lib/json/index.ts';
import { PAGINATION_METHODS } from '../../src/engine/pagination/index.ts';
import { runFixtures } from '../../src/authoring/testing/index.ts';
import { allPages, placeOf, readPage, ROOT, type Page } from './docs/markdown.ts';
import { scenariosOf, writeFixture } from './docs/scenario.ts';
import { startService } from '../service/harness.ts';

const PAGES = allPages();
const folder = mkdtempSync(path.join(tmpdir(), 'gex-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('examples in the documentation', () => {
  const scenarios = PAGES.flatMap(scenariosOf);

  test.each(scenarios.map((scenario, i) => [scenario.title, scenario, i] as const))(
    '%s: the requests and tables are those that are shown',
    async (_title, scenario, i) => {
      const fixture = path.join(folder, String(i));
      writeFixture(fixture, scenario);
      const { results } = await runFixtures(fixture);
      expect(results.flatMap(({ problems }) => problems).join('\n')).toBe('');
    },
  );

  test('every page of a pagination method shows a run', () => {
    const shown = scenarios.map(({ title }) => title.split(':')[0]);
    for (const { method } of PAGINATION_METHODS) expect(shown, method).toContain(pageOfMethod(method));
  });

  test('a wrong example is noticed', async () => {
    const [scenario] = scenarios;
    if (scenario === undefined) throw new Error('no scenario');
    const fixture = path.join(folder, 'wrong');
    writeFixture(fixture, scenario);
    writeFileSync(path.join(fixture, 'expected', 'requests'), 'GET /other');
    const { failed } = await runFixtures(fixture);
    expect(failed).toBe(1);
  });

  test('JSON is JSON', () => {
    for (const page of PAGES) {
      for (const block of page.blocks.filter(({ language }) => language === 'json')) {
        expect(() => parseExact(block.text), placeOf(page, block)).not.toThrow();
      }
    }
  });

  test('configurations are valid, without a warning', async () => {
    for (const page of PAGES) {
      for (const block of page.blocks.filter(({ words }) => words[0] === 'config')) {
        expect(await validateConfig(block.text, { strict: true }), placeOf(page, block)).toEqual([]);
      }
    }
  });

  test.each(PAGES.flatMap((page) => runnablesOf(page)))(
    '%s runs and prints what is shown',
    async (_place, code, printed) => {
      const file = path.join(folder, 'example.ts');
      const library = JSON.stringify(path.join(ROOT, 'src/index.ts'));
      const client = JSON.stringify(path.join(ROOT, 'src/storage/client/index.ts'));
      writeFileSync(
        file,
        code.replace("'generic-extractor'", library).replace("'generic-extractor/storage'", client),
      );
      // An example that asks for a storage gets one of its own.
      const storage = code.includes('STORAGE_URL') ? await startService() : undefined;
      const given =
        storage === undefined ? {} : { STORAGE_URL: storage.addresses.url, KBC_TOKEN: storage.token };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
        encoding: 'utf8',
        env: { ...process.env, ...given, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
      }).finally(() => storage?.stop());
      expect(stdout.trim(), stderr).toBe(printed.trim());
    },
  );
});

describe('what is in the code is documented, and the reverse', () => {
  test('pagination methods have a page each, and no page is left over', () => {
    const pages = PAGES.map(({ name }) => name).filter((name) => /^docs\/pagination\/(?!README)/.test(name));
    expect(pages).toEqual(PAGINATION_METHODS.map(({ method }) => pageOfMethod(method)).toSorted());
    for (const { method } of PAGINATION_METHODS) {
      expect(readPage(pageOfMethod(method)).prose).toMatch(
        new RegExp(`^# \`${method.replaceAll('.', '\\.')}\``),
      );
      expect(readPage('docs/pagination/README.md').prose).toContain(`[\`${method}\`]`);
    }
  });

  test('the page of a method names every key of it, and none that it does not have', () => {
    for (const { method, options } of PAGINATION_METHODS) {
      const known = Object.keys(options['properties'] ?? {});
      const { prose } = readPage(pageOfMethod(method));
      for (const key of known) expect(prose, `${method}: ${key}`).toContain(`\`${key}\``);
      const section = /## Options\n([^]*?)\n## /.exec(prose)?.[1] ?? '';
      const listed = Array.from(section.matchAll(/^\| `(\w+)` \|/gm), ([, key]) => key);
      for (const key of listed) expect(known, `${method}: ${key}`).toContain(key);
    }
  });

  test('every stop rule is described', () => {
    const headings = headingsOf(readPage('docs/pagination/README.md'));
    for (const rule of ['limitStop', 'forceStop', 'nextPageFlag']) expect(headings).toContain(rule);
  });

  test('authentication types', () => {
    const headings = headingsOf(readPage('docs/authentication.md'));
    expect(headings).toEqual(AUTH_TYPES.map(({ type }) => type));
  });

  test('functions, with the words of the code', () => {
    const { prose } = readPage('docs/jobs.md');
    const section = /\| function \| what it gives \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(prose)?.[1] ?? '';
    const expected = Object.values(FUNCTION_NAMES).map((line) =>
      line.replace(/^(`.*?`): (.*)$/, '| $1 | $2 |'),
    );
    expect(section.trim().split('\n')).toEqual(expected);
  });

  test('error codes', () => {
    expect(headingsOf(readPage('docs/errors.md')).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
  });

  test('sync actions', () => {
    expect(headingsOf(readPage('docs/actions.md')).toSorted()).toEqual(ACTION_NAMES.toSorted());
  });

  test('commands and their options', async () => {
    const entries = ENTRIES;
    const sections = sectionsOf(readPage('docs/cli.md'));
    const storage = await storageGroup.load();
    const below = storage.map(({ name }) => `storage ${name}`);
    expect([...sections.keys()].toSorted()).toEqual(
      [...entries.map(({ name }) => name), ...below].toSorted(),
    );
    for (const entry of [...entries, ...storage].filter(isCommand)) {
      const section = sections.get(entry.name) ?? sections.get(`storage ${entry.name}`) ?? '';
      const listed = Array.from(section.matchAll(/^\| `--([\w-]+)/gm), ([, option = '']) => option);
      expect(listed.toSorted(), entry.name).toEqual(Object.keys(entry.options).toSorted());
    }
  });

  test('commands of groups, with their words and options', async () => {
    const sections = sectionsOf(readPage('docs/cli.md'));
    const common = Object.keys(storageOptions);
    const top = sections.get('storage') ?? '';
    expect(Array.from(top.matchAll(/^\| `--([\w-]+)/gm), ([, option = '']) => option)).toEqual(common);
    const others = ENTRIES.filter((entry) => entry.name !== storageGroup.name);
    for (const group of [...(await storageGroup.load()), ...others]) {
      if (isCommand(group)) continue;
      const section = sections.get(`storage ${group.name}`) ?? sections.get(group.name) ?? '';
      const commands = (await group.load()).filter(isCommand);
      const lines = Array.from(
        section.matchAll(/^\| `gex (?:storage )?\w+ ([^`]+)`/gm),
        ([, usage = '']) => usage,
      );
      expect(lines, group.name).toEqual(commands.map(usageOf));
      const listed = Array.from(
        section.matchAll(/^\| `--([\w-]+)[^`]*` \| ([^|]+) \|/gm),
        ([, option = '', of = '']) =>
          Array.from(of.matchAll(/`([\w-]+)`/g), ([, name = '']) => `${name} --${option}`),
      );
      const known = commands.flatMap(({ name, options }) =>
        Object.keys(options)
          .filter((option) => !common.includes(option))
          .map((option) => `${name} --${option}`),
      );
      expect(listed.flat().toSorted(), group.name).toEqual(known.toSorted());
    }
  });

  test('command lines that are shown exist', async () => {
    const entries = ENTRIES;
    for (const page of PAGES) {
      for (const [line, rest = ''] of page.text.matchAll(
        /(?:\bgex|\bgeneric-extractor) ((?:run|validate|test|action|storage|[a-z]+(?= --))(?: +[^\s`]+)*)/g,
      )) {
        const found = await descend({ script: 'gex', describe: '', entries, argv: rest.split(/ +/) });
        const first = found.argv[0]?.startsWith('--') === true ? found.fallback : found.argv[0];
        const command = found.entries.find(({ name }) => name === first);
        const isGroup = found.script !== 'gex' && (found.argv[0] ?? '--').startsWith('--');
        expect(command !== undefined || isGroup, `${page.name}: ${line}`).toBe(true);
        const options = Array.from(rest.matchAll(/ --([a-z][a-z\d-]*)/g), ([, option = '']) => option);
        const known = command !== undefined && isCommand(command) ? Object.keys(command.options) : [];
        for (const option of options) expect(['help', ...known], `${page.name}: ${line}`).toContain(option);
      }
    }
  });

  test('examples in the help are understood', async () => {
    const walk = async (entries: readonly CommandEntry[]): Promise<Command[]> =>
      (
        await Promise.all(
          entries.map(async (each) => (isCommand(each) ? [each] : await walk(await each.load()))),
        )
      ).flat();
    const entries = ENTRIES;
    for (const [line] of (await walk(entries)).flatMap(({ examples }) => examples)) {
      const words = line.split(/ [<|] /)[0]?.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
      const argv = words.slice(1).map((word) => word.replaceAll(/^'|'$|"/g, ''));
      const place = await descend({ script: 'gex', describe: '', entries, argv });
      expect(() => parseLine(place), line).not.toThrow();
    }
  });

  test('npm scripts that are shown exist', () => {
    const manifest = parseExact(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const scripts = isObject(manifest) ? (getKey(manifest, 'scripts') ?? {}) : {};
    const known = isObject(scripts) ? keysOf(scripts) : [];
    const shown = PAGES.flatMap(({ text }) =>
      Array.from(
        text.matchAll(/(?:^|`)npm (?:run )?(?!run|install|pack|ci\b)([a-z]+)\b/gm),
        ([, name = '']) => name,
      ),
    );
    expect(shown.length).toBeGreaterThan(1);
    for (const name of shown) expect(known).toContain(name);
    expect(readPage('README.md').text).toMatch(/^npm run demo\b/m);
    expect(readPage('README.md').text).toMatch(/^npm test\b/m);
  });
});

describe('links', () => {
  test('lead to files and headings that are there', () => {
    const broken: string[] = [];
    for (const page of PAGES) {
      for (const [, target = ''] of page.prose.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const wanted = file === '' ? page.name : path.join(path.dirname(page.name), file);
        if (!existsSync(path.join(ROOT, wanted))) broken.push(`${page.name}: ${target}`);
        else if (anchor !== undefined && !anchorsOf(readPage(wanted)).includes(anchor))
          broken.push(`${page.name}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('every page can be reached from README.md', () => {
    const reached = new Set(['README.md', 'CHANGELOG.md']);
    for (const name of reached) {
      for (const [, target = ''] of readPage(name).prose.matchAll(/\]\(([^)#\s]+\.md)[^)]*\)/g)) {
        if (/^https?:/.test(target)) continue;
        const page = path.join(path.dirname(name), target);
        if (page.startsWith('docs')) reached.add(page);
      }
    }
    expect(PAGES.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
  });
});

function pageOfMethod(method: string): string {
  return `docs/pagination/${method.replaceAll('.', '-')}.md`;
}

/** Headings of the second level and below that are one word in code; the others explain. */
function headingsOf(page: Page): string[] {
  return Array.from(page.prose.matchAll(/^##+ ([a-zA-Z][\w.]*)$/gm), ([, heading = '']) => heading);
}

/** Anchors as the usual renderers make them: small letters, blanks as hyphens, no other signs; repeated ones numbered. */
function anchorsOf(page: Page): string[] {
  const seen = new Map<string, number>();
  return Array.from(page.prose.matchAll(/^#+ +(.*)$/gm), ([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** Code marked as `ts runnable`, with the `text output` behind it. */
function runnablesOf(page: Page): [string, string, string][] {
  return page.blocks.flatMap((block, i) => {
    if (block.words[0] !== 'runnable') return [];
    const printed = page.blocks.slice(i).find(({ words }) => words[0] === 'output');
    return [[placeOf(page, block), block.text, printed?.text ?? '']];
  });
}

/** Every command and group of `src/cli/`: what the file exports as `…Command` or `…Group`. */
/** The sections of a page about commands, by the words behind `gex`; each ends where the next one begins. */
function sectionsOf(page: Page): Map<string, string> {
  const sections = page.prose.split(/^(?=#{2,3} gex |## )/m);
  return new Map(
    sections.flatMap((section) => {
      const words = /^#{2,3} gex ([\w -]+)$/m.exec(section.split('\n')[0] ?? '')?.[1];
      return words === undefined ? [] : [[words, section] as const];
    }),
  );
}
