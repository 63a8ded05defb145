import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { ACTION_NAMES } from '../src/actions.ts';
import type { Command } from '../src/cli/command.ts';
import { validateConfig } from '../src/config/index.ts';
import { ERROR_CODES } from '../src/errors.ts';
import { AUTH_TYPES } from '../src/http/auth/index.ts';
import { FUNCTION_NAMES } from '../src/jobs/functions/index.ts';
import { getKey, isObject, keysOf, parseExact } from '../src/json/index.ts';
import { PAGINATION_METHODS } from '../src/pagination/index.ts';
import { runFixtures } from '../src/testing/index.ts';
import { allPages, placeOf, readPage, ROOT, type Page } from './docs/markdown.ts';
import { scenariosOf, writeFixture } from './docs/scenario.ts';
import { startService } from './storage/server/harness.ts';

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
    const commands = await commandsOfCode();
    const page = readPage('docs/cli.md');
    const sections = page.prose.split(/^## /m);
    const documented = sections.flatMap((section) => /^gex (\w+)/.exec(section)?.[1] ?? []);
    expect(documented.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
    for (const { name, options } of commands) {
      const section = sections.find((each) => each.startsWith(`gex ${name}\n`)) ?? '';
      const listed = Array.from(section.matchAll(/^\| `--([\w-]+)/gm), ([, option = '']) => option);
      expect(listed.toSorted(), name).toEqual(Object.keys(options).toSorted());
    }
  });

  test('command lines that are shown exist', async () => {
    const commands = await commandsOfCode();
    for (const page of PAGES) {
      for (const [line, name = '', rest = ''] of page.text.matchAll(
        /(?:\bgex|\bgeneric-extractor) (run|validate|test|action|[a-z]+(?= --))((?: +[^\s`]+)*)/g,
      )) {
        const command = commands.find((each) => each.name === name);
        expect(command, `${page.name}: ${line}`).toBeDefined();
        const options = Array.from(rest.matchAll(/ --([a-z][a-z\d-]*)/g), ([, option = '']) => option);
        for (const option of options)
          expect(['help', ...Object.keys(command?.options ?? {})], `${page.name}: ${line}`).toContain(option);
      }
    }
  });

  test('npm scripts that are shown exist', () => {
    const manifest = parseExact(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const scripts = isObject(manifest) ? (getKey(manifest, 'scripts') ?? {}) : {};
    const known = isObject(scripts) ? keysOf(scripts) : [];
    const shown = PAGES.flatMap(({ text }) =>
      Array.from(
        text.matchAll(/(?:^|`)npm (?:run )?(?!run|install|ci\b)([a-z]+)\b/gm),
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

/** Every command of `src/cli/`: what the file exports as `…Command`. */
async function commandsOfCode(): Promise<Command[]> {
  const cli = path.join(ROOT, 'src/cli');
  const commands: Command[] = [];
  for (const file of readdirSync(cli)) {
    const name = /export const (\w+Command): Command\b/.exec(readFileSync(path.join(cli, file), 'utf8'))?.[1];
    if (name === undefined) continue;
    const module = (await import(path.join(cli, file))) as Record<string, Command>; // the line above says so
    const command = module[name];
    if (command !== undefined) commands.push(command);
  }
  return commands;
}
