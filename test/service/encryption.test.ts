import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createKey,
  decryptValue,
  encryptValue,
  openText,
  readKeyFile,
  type Keys,
} from '../../src/lib/encryption/index.ts';
import { encodeExact, parseExact } from '../../src/lib/json/index.ts';
import { run } from '../../src/runner/run.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { keyFrom, keyText, RANDOM } from '../lib/encryption/support.ts';
import { isOnPostgres } from './database.ts';
import { startService, type Running } from './harness.ts';
import { times } from '../support/sample.ts';

const SECRET = 'open-sesame-42';
const SCOPE = { project: '1', component: 'ex-generic-v2' };
const BASE = 'components/ex-generic-v2/configs';

const lines: string[] = [];
const write = (message: string, fields?: object): number =>
  lines.push(message + JSON.stringify(fields ?? {}));
const log = { debug: write, info: write, warn: write, error: write };

let service: Running;
let keys: Keys;

beforeAll(async () => {
  service = await startService({ parts: [], environment: {}, log });
  keys = readKeyFile(path.join(service.dir, 'encryption.key'));
});
afterAll(async () => await service.stop());

interface Stored {
  readonly version: number;
  readonly configuration: Record<string, unknown>;
  readonly state: Record<string, unknown>;
}

const open = (text: string): string => openText(text, { keys, scope: SCOPE }).text;

async function version(body: object, address = `${BASE}/same`): Promise<Stored> {
  return (await service.call('PUT', address, body)).body as Stored;
}

async function create(id: string, body: object): Promise<Stored> {
  const { status, body: created } = await service.call('POST', BASE, {
    configurationId: id,
    name: id,
    ...body,
  });
  expect(status).toBe(201);
  return created as Stored;
}

describe('the service makes a key of its own', () => {
  test('at its first start, for its owner alone', () => {
    expect(statSync(path.join(service.dir, 'encryption.key')).mode & 0o777).toBe(0o600);
    expect(keys).toHaveLength(1);
  });

  test('or takes that of the environment', async () => {
    const other = await startService({ parts: [], environment: { GEX_ENCRYPTION_KEY: keyText('env') } });
    try {
      expect(readdirSync(other.dir)).not.toContain('encryption.key');
      const body = { configurationId: 'a', name: 'a', configuration: { '#x': SECRET } };
      const { body: created } = await other.call('POST', BASE, body);
      const value = String((created as Stored).configuration['#x']);
      expect(decryptValue(value, SCOPE, [keyFrom('env')]).value).toBe(SECRET);
    } finally {
      await other.stop();
    }
  });
});

describe('a plain # value is encrypted', () => {
  test('in configuration and state, of roots and of rows, sent as JSON or as a form', async () => {
    const content = { parameters: { '#token': SECRET, list: [{ '#n': 1234567 }], plain: 'shown' } };
    const state = { component: { '#refresh': SECRET, since: 5 } };
    const created = await create('whole', { configuration: content, state });
    expect(JSON.stringify(created)).not.toMatch(/sesame|1234567/);
    expect(JSON.parse(open(JSON.stringify(created.configuration)))).toEqual(content);
    expect(JSON.parse(open(JSON.stringify(created.state)))).toEqual(state);

    const row = await service.call('POST', `${BASE}/whole/rows`, {
      rowId: 'r',
      name: 'r',
      configuration: content,
      state,
    });
    expect(row.status).toBe(201);
    expect(row.text).not.toContain('sesame');
    const put = await service.call('PUT', `${BASE}/whole/rows/r`, { configuration: { '#a': SECRET } });
    expect(JSON.parse(open(JSON.stringify((put.body as Stored).configuration)))).toEqual({ '#a': SECRET });
    const states = [`${BASE}/whole/state`, `${BASE}/whole/rows/r/state`];
    for (const address of states) {
      const answer = await service.call('PUT', address, { state });
      expect(answer.status).toBe(200);
      expect(JSON.parse(open(JSON.stringify((answer.body as Stored).state)))).toEqual(state);
    }
    const form = new URLSearchParams({ configuration: JSON.stringify({ '#a': SECRET }) });
    const asForm = await service.call('PUT', `${BASE}/whole`, form);
    expect(JSON.parse(open(JSON.stringify((asForm.body as Stored).configuration)))).toEqual({ '#a': SECRET });
  });

  test('and everything beside it keeps its bytes', async () => {
    const text =
      '{"b":1.0,"10":[],"#x":"s","1":{},"e":1e3,"n":12345678901234567890,"__proto__":{"#y":-0},"u":"ü\\u0001"}';
    await service.call('POST', BASE, `{"configurationId":"exact","name":"n","configuration":${text}}`, {
      'Content-Type': 'application/json',
    });
    const { text: answer } = await service.call('GET', `${BASE}/exact`);
    expect(open(answer)).toContain(`"configuration":${encodeExact(parseExact(text))},`);
    expect(answer).not.toContain('"#x":"s"');
  });

  test('whatever the content is: it comes back the same to who has the key', async () => {
    await create('any', {});
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('#a', 'b', '#c', 'd'), fc.jsonValue({ maxDepth: 3 })),
        async (content) => {
          const sent = { '#always': 'plain-needle', ...content };
          const { status, text, body } = await service.call('PUT', `${BASE}/any`, { configuration: sent });
          expect(status).toBe(200);
          expect(text).not.toContain('needle');
          expect(JSON.stringify(JSON.parse(open(JSON.stringify((body as Stored).configuration))))).toBe(
            JSON.stringify(sent),
          );
        },
      ),
      { numRuns: times(30) },
    );
  });

  test('but not one that is encrypted, or that names a variable', async () => {
    const configuration = {
      '#ours': encryptValue('x', { ...SCOPE, configuration: '9' }, [createKey(RANDOM)], RANDOM),
      '#theirs': 'KBC::ProjectSecure::abc',
      '#variable': '$env:TOKEN',
    };
    expect((await create('passed', { configuration })).configuration).toEqual(configuration);
  });

  test('and one that only begins like an encrypted one is refused, with its place', async () => {
    const body = { configurationId: 'cut', name: 'cut', configuration: { a: { '#b': 'GEX::1::cut' } } };
    expect(await service.call('POST', BASE, body)).toMatchObject({
      status: 400,
      body: {
        code: 'validation.invalidConfigurationFormat',
        error: expect.stringContaining('at a.#b') as unknown,
      },
    });
    expect((await service.call('GET', `${BASE}/cut`)).status).toBe(404);
  });
});

test('more # values than can be encrypted in a moment are refused before anything is done', async () => {
  const list = Array.from({ length: 10_001 }, (_, n) => `${SECRET}-${n}`);
  for (const [field, code] of [
    ['configuration', 'validation.invalidConfigurationFormat'],
    ['state', 'validation.invalidStateFormat'],
  ] as const) {
    const answer = await service.call('POST', BASE, { name: 'many', [field]: { '#a': list } });
    expect([answer.status, answer.body]).toMatchObject([400, { code }]);
    expect(answer.text).not.toContain('sesame');
  }
});

describe('versions', () => {
  test('are not made by an update with the same secret, and are by one with another', async () => {
    const content = { '#a': SECRET, '#b': 1, c: 2 };
    const first = await create('same', { configuration: content });
    const same = await version({ configuration: content });
    expect([same.version, same.configuration]).toEqual([1, first.configuration]);
    expect((await version({ configuration: first.configuration })).version).toBe(1);
    const beside = await version({ configuration: { ...content, c: 3 } });
    expect([beside.version, beside.configuration['#a']]).toEqual([2, first.configuration['#a']]);
    const other = await version({ configuration: { ...content, '#a': 'another', c: 3 } });
    expect([other.version, other.configuration['#b']]).toEqual([3, first.configuration['#b']]);
    expect((await version({ configuration: { ...content, '#a': 'another', '#b': '1', c: 3 } })).version).toBe(
      4,
    );
  });

  test('of rows likewise', async () => {
    await create('rows', {});
    const address = `${BASE}/rows/rows`;
    await service.call('POST', address, { rowId: 'r', configuration: { '#a': SECRET } });
    expect((await version({ configuration: { '#a': SECRET } }, `${address}/r`)).version).toBe(1);
    expect((await version({ configuration: { '#a': 'another' } }, `${address}/r`)).version).toBe(2);
  });

  test('copies and rollbacks can still be read', async () => {
    await create('source', { configuration: { '#a': SECRET } });
    await version({ configuration: { '#a': 'another' } }, `${BASE}/source`);
    await service.call('POST', `${BASE}/source/versions/1/rollback`, {});
    const back = (await service.call('GET', `${BASE}/source`)).body as Stored;
    expect(open(JSON.stringify(back.configuration))).toBe(`{"#a":"${SECRET}"}`);
    const { body } = await service.call('POST', `${BASE}/source/versions/1/create`, { name: 'copy' });
    const copy = (await service.call('GET', `${BASE}/${(body as { id: string }).id}`)).body as Stored;
    expect(open(JSON.stringify(copy.configuration))).toBe(`{"#a":"${SECRET}"}`);
  });
});

test('what the service stores is run by who has its key', async () => {
  const seen: unknown[] = [];
  const api = createServer(({ headers }, response) => {
    seen.push(headers.authorization);
    response.end('[{"id":1}]');
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const { port } = api.address() as AddressInfo; // it listens on a port
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'gex-'));
  try {
    const authentication = { type: 'bearer', '#token': SECRET };
    const parameters = { api: { baseUrl: `http://127.0.0.1:${port}/`, authentication } };
    await create('run', { configuration: { parameters } });
    const row = { rowId: 'r', configuration: { parameters: { config: { jobs: [{ endpoint: 'books' }] } } } };
    await service.call('POST', `${BASE}/run/rows`, row);
    writeFileSync(path.join(dataFolder, 'config.json'), (await service.call('GET', `${BASE}/run`)).text);
    const secrets = new Secrets();
    await run({ dataFolder, log, secrets, environment: {}, encryptionKeys: keys, encryptionScope: SCOPE });
    expect(seen).toEqual([`Bearer ${SECRET}`]);
    expect(secrets.redact(`token ${SECRET}`)).toBe('token ***');
    const environment = { GEX_ENCRYPTION_KEY_FILE: path.join(service.dir, 'encryption.key') };
    await run({ dataFolder, log, environment });
    expect(seen).toHaveLength(2);
    await expect(run({ dataFolder, log, environment: {} })).rejects.toThrow(keys[0]?.id ?? 'a key');
  } finally {
    api.close();
    rmSync(dataFolder, { recursive: true });
  }
});

test('events hide the plain # values they are sent with', async () => {
  const params = { '#a': SECRET, b: 'shown' };
  const event = { component: 'x', message: 'm', params, results: JSON.stringify({ '#c': SECRET }) };
  const { status, body } = await service.call('POST', 'events', event);
  expect(status).toBe(201);
  const { body: stored } = await service.call('GET', `events/${(body as { id: string }).id}`);
  expect(stored).toMatchObject({ params: { '#a': '***', b: 'shown' }, results: { '#c': '***' } });
});

test('nothing plain is in the folder, in the log, or in any answer about versions', async () => {
  const needle = 'needle-in-the-haystack';
  await create('needle', { configuration: { '#a': needle }, state: { '#b': needle } });
  await service.call('POST', `${BASE}/needle/rows`, {
    rowId: 'r',
    configuration: { '#a': [needle] },
    state: { '#b': needle },
  });
  await service.call('PUT', `${BASE}/needle`, {
    configuration: { '#a': `${needle}-2` },
    changeDescription: 'x',
  });
  await service.call('PUT', `${BASE}/needle`, { configuration: { '#a': 'GEX::', '#c': needle } });
  await service.call('PUT', `${BASE}/needle`, `{"configuration":{"#a":"${needle}"`, {
    'Content-Type': 'application/json',
  });
  for (const address of [
    'versions?include=configuration',
    'versions/1',
    'rows',
    'rows/r/versions?include=configuration',
    '',
  ]) {
    const { status, text } = await service.call('GET', `${BASE}/needle/${address}`.replace(/\/$/, ''));
    expect(status, address).toBe(200);
    expect(text).not.toContain('needle-in');
  }
  expect((await service.call('GET', 'events')).text).not.toContain('needle-in');
  const files = readdirSync(service.dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  if (!isOnPostgres)
    expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['meta.sqlite', 'meta.sqlite-wal']));
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(path.join(parentPath, name));
    expect(bytes.includes('needle-in') || bytes.includes('sesame'), name).toBe(false);
  }
  expect(lines.join('\n')).not.toMatch(/needle-in|sesame/);
});

test('a lost key is warned of at the start, and everything else works on', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'service-'));
  const before = await startService({ parts: [], environment: {}, dir });
  const body = { configurationId: 'a', name: 'a', configuration: { '#x': SECRET } };
  const stored = ((await before.call('POST', BASE, body)).body as Stored).configuration;
  await before.service.stop();
  rmSync(path.join(dir, 'encryption.key'));

  const warned: string[] = [];
  const warn = (message: string): unknown => warned.push(message);
  const after = await startService({ parts: [], environment: {}, dir, log: { ...log, warn } });
  try {
    expect(warned.join()).toContain('A new encryption key was made');
    expect(((await after.call('GET', `${BASE}/a`)).body as Stored).configuration).toEqual(stored);
    const again = (await after.call('PUT', `${BASE}/a`, { configuration: { '#x': SECRET } })).body as Stored;
    expect(again.version).toBe(2);
    const [key] = readKeyFile(path.join(dir, 'encryption.key'));
    expect(String(again.configuration['#x'])).toContain(`GEX::1::${key?.id}::`);
  } finally {
    await after.stop();
  }
});
