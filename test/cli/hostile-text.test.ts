import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { processIo } from '../../src/cli/io.ts';
import { componentLine, plainLine, plainText, terminalLine } from '../../src/lib/logging/lines.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { MAIN } from '../support/command.ts';
import { component, configOf, dataFolder, gex, json, startApi, startGex, type Api } from './support.ts';

/** Clears the screen, colours, sets the title, turns text around, and begins a line of the log. */
const EVIL =
  '\u001B[2J\u001B[31m\u001B]0;x\u0007\u009B1m\u202Etxt\r\n2026-01-01T00:00:00.000Z INFO all is well\u2028';
const ACTING = /(?!\n)[\p{Cc}\u2028\u202e]/u;

const evil = (): Promise<Api> =>
  startApi(({ url }, response) => {
    if (url.pathname === '/status') response.writeHead(400).end(EVIL);
    else if (url.pathname === '/json') json(response, { message: EVIL }, 400);
    else if (url.pathname === '/text') response.end(`<${EVIL}`);
    else if (url.pathname === '/keys') json(response, { [EVIL]: [{ id: 1 }] });
    else if (url.pathname === '/link') json(response, { data: [{ id: 1 }], next: `http://a${EVIL}/x` });
    else if (url.pathname === '/scheme') json(response, { data: [{ id: 1 }], next: `mailto:\\${EVIL}://h` });
    else if (url.pathname === '/names')
      json(response, [{ [EVIL]: 1 }, { [EVIL]: [1] }, { [EVIL]: { a: 1 } }]);
    else if (url.pathname === '/shape') json(response, EVIL);
    else json(response, []);
  });

const next = { api: { pagination: { method: 'response.url', urlKey: 'next' } } };

describe('text of an API cannot act', () => {
  test.for([
    ['status', {}],
    ['json', {}],
    ['text', {}],
    ['keys', {}],
    ['link', next],
    ['scheme', next],
    ['names', {}],
    ['shape', {}],
  ] as const)(
    'in what is said of /%s',
    { tags: 'thorough', concurrent: true },
    async ([endpoint, more], { expect }) => {
      const folder = dataFolder(
        configOf(await evil(), [{ endpoint, dataField: endpoint === 'keys' ? 'rows' : '.' }], {
          ...more,
          config: { debug: true },
        }),
      );
      for (const format of ['text', 'json']) {
        const { stderr, stdout } = await gex(
          'run',
          '--storage',
          'none',
          '--data',
          folder,
          '--log-format',
          format,
        );
        expect(stderr + stdout).not.toMatch(ACTING);
        expect(stderr + stdout).not.toMatch(/^2026-01-01T00/m);
      }
    },
  );

  test('in the log of the container', { tags: 'thorough' }, async () => {
    const { stdout, stderr } = await component(dataFolder(configOf(await evil(), [{ endpoint: 'status' }])));
    expect(stdout + stderr).toContain(String.raw`\u001b[2J`);
    expect(stdout + stderr).not.toMatch(ACTING);
    expect(stdout + stderr).not.toMatch(/^2026-01-01T00/m);
  });

  test('in a line of the log, message and facts', () => {
    for (const line of [terminalLine, plainLine.bind(undefined, 0), componentLine.bind(undefined, 0)]) {
      const text = plainText(line('info', EVIL, { fact: EVIL, deep: [{ [EVIL]: EVIL }] }));
      expect(text).not.toMatch(/[\n\r\u2028\u202e\p{Cc}]/u);
    }
    const [, facts = ''] =
      /well\S* (\{.*\}) \[\]$/.exec(componentLine(0, 'info', EVIL, { fact: EVIL })) ?? [];
    expect(JSON.parse(facts)).toEqual({ fact: EVIL });
  });
});

describe('a terminal', () => {
  afterEach(() => void vi.restoreAllMocks());

  test('shows results, lines and the live line without obeying them', () => {
    const written: string[] = [];
    const take = (text: unknown): boolean => (written.push(String(text)), true);
    vi.spyOn(process.stdout, 'write').mockImplementation(take);
    vi.spyOn(process.stderr, 'write').mockImplementation(take);
    const before = process.stderr.isTTY;
    process.stderr.isTTY = true;
    const io = processIo(new Secrets(), new AbortController().signal);
    process.stderr.isTTY = before;
    io.live(EVIL.slice(0, 20));
    io.note(`one\ntwo ${EVIL}`);
    io.print(EVIL);
    // our own erasing of the live line is all that is left
    const text = written.join('').replaceAll('\r\u001B[2K', '');
    expect(text).not.toMatch(ACTING);
    expect(text).toContain('one\ntwo ');
  });

  test('shows colours of ours, and none of what came from outside', { tags: 'thorough' }, async () => {
    const folder = dataFolder(configOf(await evil(), [{ endpoint: 'status' }]));
    const { stderr } = await startGex(['run', '--data', folder], {
      env: { ...process.env, FORCE_COLOR: '1' },
    }).ended;
    expect(stderr).toContain('\u001B[31merror\u001B[39m: ');
    expect(stderr).toContain(String.raw`\u001b[2J`);
    expect(stderr.replaceAll('\u001B[31m', '').replaceAll('\u001B[39m', '')).not.toMatch(ACTING);
  });

  // a terminal as util-linux makes one
  test.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/script'))(
    'that is a real one shows them too, in warnings and in the last line',
    { tags: 'thorough' },
    async () => {
      const folder = dataFolder(configOf(await evil(), [{ endpoint: 'status' }]));
      const command = [process.execPath, MAIN, 'run', '--data', folder].map((word) => `'${word}'`).join(' ');
      const { NO_COLOR: _none, CI: _machine, ...env } = process.env;
      const { stdout } = await promisify(execFile)(
        '/usr/bin/script',
        ['-qec', `${command} || true`, '/dev/null'],
        {
          env: { ...env, TERM: 'xterm-256color', NODE_COMPILE_CACHE: '' },
        },
      );
      expect(stdout).toContain('\u001B[31merror\u001B[39m: ');
      expect(stdout).not.toContain(String.raw`\u001b[31merror`);
    },
  );
});
