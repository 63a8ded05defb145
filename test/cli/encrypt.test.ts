import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect as sharedExpect, test } from 'vitest';
import { keyText } from '../lib/encryption/support.ts';
import {
  component,
  configOf,
  dataFolder,
  gexHere as gex,
  json,
  put,
  startApi,
  runHere,
  filesOf,
  type Ended,
} from './support.ts';
import { MAIN } from '../support/command.ts';

const KEY = { GEX_ENCRYPTION_KEY: keyText('a') };
const SECRET = 'open-sesame-42';

describe.concurrent('one value', () => {
  test('comes from stdin, goes to stdout, and back', async ({ expect }) => {
    const encrypted = await encrypt(`${SECRET}\n`);
    expect(encrypted).toMatchObject({ code: 0, stderr: '' });
    expect(encrypted.stdout).toMatch(/^GEX::1::[0-9a-f]{12}::[\w-]{11}::[\w-]+\n$/);
    expect(await encrypt(encrypted.stdout, '--decrypt')).toMatchObject({ code: 0, stdout: `${SECRET}\n` });
  });

  test('comes from a file, and only its last line end is left out', async ({ expect }) => {
    const folder = dataFolder();
    put(folder, 'pem', 'line 1\nline 2\n\n');
    const { stdout } = await encrypt('', '--value-file', path.join(folder, 'pem'));
    expect((await encrypt(stdout, '--decrypt')).stdout).toBe('line 1\nline 2\n');
  });

  test('is bound to project, component and configuration', { tags: 'thorough' }, async ({ expect }) => {
    const place = ['--project', '7', '--component', 'my.app', '--config', '12'];
    const { stdout } = await encrypt(SECRET, ...place);
    expect((await encrypt(stdout, ...place, '--decrypt')).stdout).toBe(`${SECRET}\n`);
    const elsewhere = await encrypt(stdout, ...place.slice(0, 4), '--config', '13', '--decrypt');
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' });
    expect(elsewhere.stderr).toContain('project 7, component my.app, configuration 13');
  });

  test(
    'is refused when it is empty, encrypted already, or given as an argument',
    { tags: 'thorough' },
    async ({ expect }) => {
      expect((await encrypt('')).stderr).toContain('the input is empty');
      const { stdout } = await encrypt(SECRET);
      expect(await encrypt(stdout)).toMatchObject({ code: 1 });
      const argument = await gex('encrypt', SECRET);
      expect(argument).toMatchObject({ code: 1, stdout: '' });
      expect(argument.stderr).toContain('A value is never an argument');
      expect(argument.stderr).not.toContain(SECRET);
      expect((await gex('encrypt', '--decrypt', '--rotate')).stderr).toContain('exclude each other');
    },
  );

  test('without a key is refused with the way to make one', async ({ expect }) => {
    const { code, stderr } = await withInput(SECRET, ['encrypt'], { GEX_ENCRYPTION_KEY: '' });
    expect(code).toBe(1);
    expect(stderr).toContain('gex encrypt --new-key');
    expect(stderr).not.toContain(SECRET);
  });
});

describe.concurrent('a file', () => {
  const text = `\uFEFF{
  "parameters": {
    "api": { "baseUrl":"http://x.example/" },  "#n": 12345678901234567890,
    "config": { "#password" : "${SECRET}", "#fromEnv": "$env:X", "plain": 1.0, "jobs": [ ] }
  }
}
`;

  test('is encrypted in place, and keeps its form and its mode', async ({ expect }) => {
    const folder = dataFolder(text);
    const file = path.join(folder, 'config.json');
    chmodSync(file, 0o640);
    expect(await encrypt('', '--file', file)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `${file}: 2 values encrypted, 1 left as they were\n`,
    });
    const encrypted = readFileSync(file, 'utf8');
    const pattern = `"#password" : "${SECRET}"`;
    expect(encrypted).not.toContain(SECRET);
    expect(
      encrypted
        .replace(/("#n": )"GEX::[^"]+"/, '$112345678901234567890')
        .replace(/("#password" : )"GEX::[^"]+"/, pattern),
    ).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(Object.keys(filesOf(folder))).toEqual(['config.json']);
    expect((await encrypt('', '--file', file)).stderr).toContain('0 values encrypted, 3 left');
    expect(readFileSync(file, 'utf8')).toBe(encrypted);
    const plain = await encrypt('', '--file', file, '--decrypt');
    expect(plain.stdout).toBe(text);
    expect(readFileSync(file, 'utf8')).toBe(encrypted);
  });

  test('with a value that cannot be read stays as it is; every place is named', async ({ expect }) => {
    const { stdout } = await encrypt(SECRET);
    const broken = `{"a": {"#x": "plain"},\n "#y": "${stdout.trim().slice(0, -1)}",\n "#z": "GEX::1::"}`;
    const folder = dataFolder(broken);
    const file = path.join(folder, 'config.json');
    const { code, stderr } = await encrypt('', '--file', file, '--rotate');
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}:2:8 #y: The encrypted value is not whole`);
    expect(stderr).toContain(`${file}:3:8 #z: The encrypted value is not whole`);
    expect(stderr).not.toContain('plain');
    expect(readFileSync(file, 'utf8')).toBe(broken);
  });

  test('that is no JSON, or is not there, is refused with its place', async ({ expect }) => {
    const folder = dataFolder('{"#a": "x",}');
    const broken = await encrypt('', '--file', path.join(folder, 'config.json'));
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/config\.json:1:12/);
    expect((await encrypt('', '--file', path.join(folder, 'none.json'))).stderr).toContain('ENOENT');
  });
});

test('a key is rotated: a new key in front, the file encrypted again, the old key taken out', async () => {
  const folder = dataFolder('{"#a": "open-sesame-42"}');
  const [file, keys] = [path.join(folder, 'config.json'), path.join(folder, 'gex.key')];
  const first = await gex('encrypt', '--new-key', keys);
  sharedExpect(first).toMatchObject({ code: 0 });
  sharedExpect(first.stdout).toMatch(/^[0-9a-f]{12}\n$/);
  sharedExpect(statSync(keys).mode & 0o777).toBe(0o600);
  await gex('encrypt', '--key-file', keys, '--file', file);
  sharedExpect(readFileSync(file, 'utf8')).toContain(`GEX::1::${first.stdout.trim()}::`);

  const second = await gex('encrypt', '--new-key', keys);
  sharedExpect((await gex('encrypt', '--key-file', keys, '--file', file, '--rotate')).stderr).toContain(
    '1 value',
  );
  sharedExpect(readFileSync(file, 'utf8')).toContain(`GEX::1::${second.stdout.trim()}::`);
  const newest = readFileSync(keys, 'utf8').split('\n').slice(0, 3).join('\n');
  writeFileSync(keys, newest);
  sharedExpect((await gex('encrypt', '--key-file', keys, '--file', file, '--decrypt')).stdout).toBe(
    '{"#a": "open-sesame-42"}\n',
  );
});

describe('a run', () => {
  test('decrypts in memory, hides what it decrypted, and leaves no plain value in the folder', async ({
    expect,
  }) => {
    const tokens: unknown[] = [];
    const api = await startApi(({ headers }, response) => {
      tokens.push(headers.authorization);
      json(response, [{ id: 1, echo: 'fine' }]);
    });
    const folder = dataFolder(config(api.url));
    await encrypt('', '--file', path.join(folder, 'config.json'));
    const ended = await runHere(['run', '--storage', 'none', '--data', folder, '--log-level', 'debug'], {
      env: KEY,
    });
    expect(ended.stderr).not.toContain(SECRET);
    expect(ended.code, ended.stderr).toBe(0);
    expect(tokens).toEqual([`Bearer ${SECRET}`]);
    expect(JSON.stringify(filesOf(folder))).not.toContain(SECRET);
    const inContainer = await component(folder, KEY);
    expect(inContainer).toMatchObject({ code: 0, stderr: '' });
    expect(tokens).toHaveLength(2);
  });

  test('that is answered with its own secret does not show it', async ({ expect }) => {
    const api = await startApi((_request, response) => json(response, { error: `bad token ${SECRET}` }, 400));
    const folder = dataFolder(config(api.url));
    await encrypt('', '--file', path.join(folder, 'config.json'));
    const { code, stdout, stderr } = await runHere(['run', '--storage', 'none', '--data', folder], {
      env: KEY,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('bad token ***');
    expect(stdout + stderr).not.toContain(SECRET);
  });

  test('without the key names it and its place, before anything is sent', async ({ expect }) => {
    const api = await startApi((_request, response) => json(response, []));
    const folder = dataFolder(config(api.url));
    await encrypt('', '--file', path.join(folder, 'config.json'));
    const id = /GEX::1::(\w+)/.exec(filesOf(folder)['config.json'] ?? '')?.[1] ?? 'no key';
    const other = { GEX_ENCRYPTION_KEY: keyText('b') };
    for (const command of ['run', 'validate']) {
      const { code, stdout, stderr } = await runHere([command, '--data', folder], { env: other });
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/config\.json:\d+:\d+ error parameters\.api\.authentication\.#token/);
      expect(stdout + stderr).toContain(`encrypted with the key ${id}`);
      expect(stdout + stderr).toContain('set the value again');
    }
    const inContainer = await component(folder, other);
    expect(inContainer.code).toBe(1);
    expect(inContainer.stderr).toContain(id);
    expect(api.seen).toEqual([]);
  });

  test('reads only the rows it runs: a lost key of a disabled row does not matter', async ({ expect }) => {
    const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
    const lost = (await withInput('x', ['encrypt'], { GEX_ENCRYPTION_KEY: keyText('lost') })).stdout.trim();
    const { parameters } = config(api.url) as { parameters: object };
    const folder = dataFolder({
      configuration: { parameters },
      rows: [
        { id: 'old', isDisabled: true, configuration: { parameters: { config: { '#x': lost } } } },
        { id: 'new', configuration: {} },
      ],
    });
    expect(await runHere(['run', '--storage', 'none', '--data', folder], { env: KEY })).toMatchObject({
      code: 0,
    });
    const named = await runHere(['run', '--storage', 'none', '--data', folder, '--row', 'old'], { env: KEY });
    expect(named.code).toBe(1);
    expect(named.stderr).toContain('rows[0].configuration.parameters.config.#x');
  });

  test('takes a decrypted text as it is, whatever it looks like', async ({ expect }) => {
    const tokens: unknown[] = [];
    const api = await startApi(({ headers }, response) => {
      tokens.push(headers.authorization);
      json(response, []);
    });
    const { stdout } = await encrypt('$env:HOME');
    const folder = dataFolder(JSON.stringify(config(api.url)).replace(SECRET, stdout.trim()));
    expect(await runHere(['run', '--storage', 'none', '--data', folder], { env: KEY })).toMatchObject({
      code: 0,
    });
    expect(tokens).toEqual(['Bearer $env:HOME']);
  });
});

function config(url: string): object {
  return configOf(url, [{ endpoint: 'books' }], {
    api: { authentication: { type: 'bearer', '#token': SECRET } },
  });
}

function encrypt(input: string, ...args: readonly string[]): Promise<Ended> {
  return withInput(input, ['encrypt', ...args], KEY);
}

function withInput(input: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(input); // a command that refuses its options reads nothing
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
