import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  describeError,
  extract,
  firstRequests,
  parseExact,
  previewRun,
  run,
  systemEnv,
  type AnyObject,
  type Log,
} from '../../src/index.ts';
import { configOf, dataFolder, json, startApi } from '../cli/support.ts';

const SECRET = 'p4ss word/é"1';

/** Everything that a log was told, in one text. */
function everything(): { log: Log; text: () => string } {
  const lines: string[] = [];
  const add = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  return { log: { debug: add, info: add, warn: add, error: add }, text: () => lines.join('\n') };
}

/** All that is said of an error, and of what caused it. */
function allOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, stack = '' } = error;
  return [describeError(error), message, stack, JSON.stringify(error), allOf(error.cause ?? '')].join('\n');
}

const forms = [
  SECRET,
  encodeURIComponent(SECRET),
  JSON.stringify(SECRET).slice(1, -1),
  Buffer.from(SECRET).toString('base64'),
];

const without = (text: string): void => {
  for (const form of forms) expect(text).not.toContain(form);
};

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A job that sends the secret in its body, as JSON. */
const posting = (api: string, more: object = {}): object =>
  configOf(
    api,
    [{ endpoint: 'login', method: 'POST', params: { pin: { attr: '#pin' } }, dataType: 'x', ...more }],
    { config: { '#pin': SECRET, debug: true } },
  );

const configurationOf = (config: object): AnyObject => parseExact(JSON.stringify(config)) as AnyObject; // an object was written

describe('a user of the library who says nothing of secrets', () => {
  test('gets no secret in the log, nor in the error of an answer that echoes it', async () => {
    const api = await startApi(({ url }, response) =>
      json(response, { wrong: url.search, again: SECRET, and: Buffer.from(SECRET).toString('base64') }, 400),
    );
    const jobs = [{ endpoint: 'x', params: { q: { attr: '#pin' } } }];
    const config = configOf(api, jobs, { config: { '#pin': SECRET, debug: true } });
    const { log, text } = everything();
    const error = await failure(run({ dataFolder: dataFolder(config), log }));
    expect(text()).toContain('GET http://127.0.0.1');
    expect(allOf(error)).toContain('400 Bad Request');
    without(text());
    without(allOf(error));
  });

  test('gets none of those that stand in addresses of the configuration', async () => {
    const basic = Buffer.from('me:open-s3same').toString('base64');
    const api = await startApi((_request, response) =>
      json(
        response,
        { got: basic, also: '0p3n-k3y-1234', at: 'http://you:other-pass@h/?api_key=third-k3y' },
        400,
      ),
    );
    const jobs = [{ endpoint: 'x?api_key=0p3n-k3y-1234&page=1' }];
    const address = api.url.replace('//', '//me:open-s3same@');
    const config = configOf(address, jobs, { config: { debug: true } });
    const { log, text } = everything();
    const said = allOf(await failure(run({ dataFolder: dataFolder(config), log }))) + text();
    expect(said).toContain('400 Bad Request');
    expect(said).toContain('page=1');
    for (const secret of [basic, 'open-s3same', '0p3n-k3y-1234', 'other-pass', 'third-k3y'])
      expect(said).not.toContain(secret);
  });

  test('sees no secret in what the platform says of a file', async () => {
    const secret = 'folder-s3cret-77';
    const folder = path.join(dataFolder(), secret);
    mkdirSync(folder);
    const config = configOf('http://127.0.0.1:9/', [{ endpoint: 'x' }], { config: { '#pin': secret } });
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
    // In the place of a folder: errors of the file system name the path.
    writeFileSync(path.join(folder, '.gex'), '');
    const { log, text } = everything();
    const error = await failure(run({ dataFolder: folder, log }));
    expect(error).toBeInstanceOf(Error);
    expect(allOf(error)).toMatch(/\*\*\*/);
    expect(allOf(error) + text()).not.toContain(secret);
  });

  test('sees no secret in the stack of an error that was made with it', async () => {
    const secret = 'proxy-s3cret-77.invalid';
    const api = { retryConfig: { maxRetries: 0 } };
    const config = configOf('http://api.invalid/', [{ endpoint: 'x' }], { api, config: { '#pin': secret } });
    const before = process.env['http_proxy'];
    process.env['http_proxy'] = `http://${secret}:9`;
    try {
      const { log, text } = everything();
      const said = allOf(await failure(run({ dataFolder: dataFolder(config), log })));
      expect(said).toContain('getaddrinfo');
      expect(said + text()).not.toContain(secret);
    } finally {
      if (before === undefined) delete process.env['http_proxy'];
      else process.env['http_proxy'] = before;
    }
  });

  test('sends no body with a secret to a host that nobody named', async () => {
    const other = await startApi((_request, response) => json(response, []));
    const elsewhere = other.url.replace('127.0.0.1', 'localhost');
    const api = await startApi((_request, response) =>
      response.writeHead(307, { Location: elsewhere }).end(),
    );
    const { log, text } = everything();
    const error = await failure(run({ dataFolder: dataFolder(posting(api.url)), log }));
    expect(error).toMatchObject({ code: 'http.untrustedHost' });
    expect(other.seen).toEqual([]);
    without(text() + allOf(error));
  });

  test('is as safe with one configuration at hand', async () => {
    const other = await startApi((_request, response) => json(response, []));
    const api = await startApi((_request, response) =>
      response.writeHead(307, { Location: other.url.replace('127.0.0.1', 'localhost') }).end(),
    );
    const folder = dataFolder();
    const { log, text } = everything();
    const error = await failure(
      extract({
        configuration: configurationOf(posting(api.url)),
        state: {},
        outFolder: path.join(folder, 'out'),
        workFolder: path.join(folder, 'work'),
        cacheFolder: path.join(folder, 'cache'),
        env: systemEnv,
        log,
        signal: new AbortController().signal,
      }),
    );
    expect(error).toMatchObject({ code: 'http.untrustedHost' });
    expect(other.seen).toEqual([]);
    without(text() + allOf(error));
  });

  test('sees first requests without secrets', async () => {
    const config = posting('http://127.0.0.1:9/');
    const { log, text } = everything();
    const signal = new AbortController().signal;
    const rows = await previewRun({ dataFolder: dataFolder(config), log, signal });
    const jobs = await firstRequests({ configuration: configurationOf(config), state: {}, env: systemEnv });
    for (const shown of [rows, jobs]) expect(JSON.stringify(shown)).toContain('***');
    without(text() + JSON.stringify([rows, jobs]));
  });

  test('gets no secret in an error of what the platform says', async () => {
    const { log, text } = everything();
    const storage = {
      begin: (): Promise<void> =>
        Promise.reject(new Error(`cannot open ${SECRET}`, { cause: new DOMException(SECRET) })),
    };
    const config = posting('http://127.0.0.1:9/');
    const { noStorage } = await import('../../src/index.ts');
    const error = await failure(
      run({ dataFolder: dataFolder(config), log, storage: { ...noStorage, ...storage } }),
    );
    expect(allOf(error)).toContain('cannot open ***');
    without(text() + allOf(error));
  });
});
