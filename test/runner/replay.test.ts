import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { run, type FolderRunOptions } from '../../src/runner/run.ts';
import { withRecordings } from '../../src/runner/recordings.ts';
import { configOf, dataFolder, filesOf, gex, json, put, startApi, type Api } from '../cli/support.ts';

const PAGES = 3;

/** Books by page, each with its author behind a link of its own. It tells what time it was asked for. */
const library = (): Promise<Api> =>
  startApi(({ url }, response) => {
    const author = /^\/authors\/(\d+)$/.exec(url.pathname)?.[1];
    if (author !== undefined) return json(response, [{ name: `author ${author}`, key: 'in-the-answer' }]);
    if (url.pathname.startsWith('/broken')) return response.end('<html>');
    const page = Number(url.searchParams.get('page'));
    return json(response, {
      data:
        page > PAGES
          ? []
          : [{ id: page, at: url.searchParams.get('at'), since: url.searchParams.get('since') }],
    });
  });

const authors = { endpoint: 'authors/{id}', dataType: 'authors', placeholders: { id: 'id' } };
const books = {
  endpoint: 'books',
  dataField: 'data',
  dataType: 'books',
  params: { at: { function: 'time' }, since: { time: 'previousStart' }, key: { attr: '#key' } },
  children: [authors],
};

const configuration = (api: Api | string, job: object = books): object =>
  configOf(api, [job], {
    api: { pagination: { method: 'pagenum' }, http: { concurrency: 3 } },
    config: { '#key': 'of-the-configuration' },
  });

const row = (id: string): object => ({
  id,
  configuration: { parameters: { config: { outputBucket: id, jobs: [books] } } },
});

function start(folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> {
  return run({ dataFolder: folder, log: silentLog, ...options });
}

describe('a recording that unpacks to very much more than its size', () => {
  test('is not played again, and nothing of it is left', { tags: 'thorough' }, async () => {
    const folder = dataFolder(configuration('http://127.0.0.1:1/'));
    const file = path.join(folder, 'bomb.gexr');
    writeFileSync(file, zstdCompressSync(Buffer.alloc(2 ** 29)));
    await expect(start(folder, { replay: file })).rejects.toThrow(
      expect.objectContaining({
        code: 'replay.invalid',
        message: expect.stringContaining('it unpacks to more than 268435456 bytes') as string,
      }),
    );
    await expect(withRecordings({ dataFolder: folder, recording: file }, async () => {})).rejects.toThrow(
      expect.objectContaining({ code: 'recording.invalid' }),
    );
    expect(existsSync(path.join(folder, '.gex/replay'))).toBe(false);
  });
});

describe('a run that is played again', () => {
  test('gives the same tables without asking, also of a changed configuration, and moves no state on', async () => {
    const api = await library();
    const folder = dataFolder(configuration(api));
    await start(folder);
    const asked = api.seen.length;
    const first = filesOf(folder);
    await start(folder, { replay: 'last' });
    expect(filesOf(path.join(folder, 'out'))).toEqual(filesOf(path.join(folder, 'out.previous')));
    put(
      folder,
      'config.json',
      JSON.stringify(configuration(api, { ...books, dataType: 'volumes', children: [] })),
    );
    await start(folder, { replay: 'last' });
    const again = filesOf(folder);
    expect(again['out/tables/library.volumes']).toContain('"1",');
    expect(again['in/state.json']).toBe(first['in/state.json']);
    expect(api.seen.length).toBe(asked);
  });

  test('from one file, which holds all rows, no secret, and no digest of one', async () => {
    const api = await library();
    const resource = { configuration: configuration(api), rows: [row('a'), row('b')] };
    const folder = dataFolder(resource);
    const file = path.join(folder, 'sent.gexr');
    await start(folder, { record: file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const asked = api.seen.length;
    const elsewhere = dataFolder(resource);
    await start(elsewhere, { replay: file });
    expect(api.seen.length).toBe(asked);
    for (const id of ['a', 'b'])
      expect(filesOf(path.join(elsewhere, 'rows', id, 'out'))).toEqual(
        filesOf(path.join(folder, 'rows', id, 'out')),
      );
    const { zstdDecompressSync } = await import('node:zlib');
    const text = zstdDecompressSync(readFileSync(file)).toString('latin1');
    expect(text).toContain('in-the-answer');
    expect(text).not.toContain('of-the-configuration');
    expect(text).not.toContain('"keys"');
    put(elsewhere, 'config.json', JSON.stringify({ ...resource, rows: [row('c')] }));
    await expect(start(elsewhere, { replay: file })).rejects.toMatchObject({
      code: 'replay.invalid',
      message: expect.stringContaining('has no recording of the row “c”') as string,
    });
  });

  test('has stars where the API repeated a secret, in an answer and in a link that is followed', async () => {
    const secret = 'of-the-configuration';
    const api = await startApi(({ url }, response) => {
      if (url.searchParams.get('page') === '2') return json(response, [{ id: 2, echo: secret }]);
      const next = `${api.url}books?page=2&who=${secret}`;
      response.writeHead(200, { 'Content-Type': 'application/json', Link: `<${next}>; rel="next"` });
      response.end(JSON.stringify([{ id: 1, echo: `é ${secret}` }]));
    });
    const config = configOf(api, [{ endpoint: 'books' }], {
      api: { pagination: { method: 'link' } },
      config: { '#key': secret },
    });
    const folder = dataFolder(config);
    const file = path.join(folder, 'sent.gexr');
    await start(folder, { record: file });
    const table = filesOf(folder)['out/tables/library.books'] ?? '';
    expect(table).toContain(`"2","${secret}"`);
    const { zstdDecompressSync } = await import('node:zlib');
    expect(zstdDecompressSync(readFileSync(file)).toString('latin1')).not.toContain(secret);
    const explained = await gex('explain', '--recording', file, '--job', 'books', '--page', '1');
    expect(explained.stdout).toContain('é ****');
    expect(explained.code).toBe(0);
  });

  test('ends as it did when it failed', async () => {
    const api = await library();
    const children = [{ ...authors, endpoint: 'broken/{id}' }];
    const folder = dataFolder(configuration(api, { ...books, children }));
    const file = path.join(folder, 'failed.gexr');
    await expect(start(folder, { record: file })).rejects.toMatchObject({ code: 'response.notJson' });
    const asked = api.seen.length;
    await expect(start(folder, { replay: file })).rejects.toMatchObject({ code: 'response.notJson' });
    expect(api.seen.length).toBe(asked);
  });

  test('an answer that is missing is an error with the nearest one', async () => {
    const api = await library();
    const folder = dataFolder(configuration(api));
    await start(folder);
    put(folder, 'config.json', JSON.stringify(configuration(api, { ...books, endpoint: 'boxes' })));
    const asked = api.seen.length;
    await expect(start(folder, { replay: 'last' })).rejects.toMatchObject({
      code: 'replay.missing',
      where: { job: 'books', page: 1 },
      message: expect.stringMatching(
        /no answer to GET \S+\/boxes\?\S+ The nearest that it has is GET \S+\/books\?\S+ \(page 1 of “books”\)/,
      ) as string,
    });
    expect(api.seen.length).toBe(asked);
  });

  test.for([
    ['nothing.gexr', undefined, 'cannot be read: ENOENT'],
    ['text.gexr', 'text', 'is no recording, or one of another version'],
    ['last', undefined, 'There is no recording of a last run'],
  ] as const)('%s is refused', async ([name, text, message]) => {
    const folder = dataFolder(configuration('http://127.0.0.1:9/'));
    const file = name === 'last' ? name : path.join(folder, name);
    if (text !== undefined) writeFileSync(file, text);
    const { code, stderr } = await gex('run', '--data', folder, '--replay', file);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) as string });
    expect(existsSync(path.join(folder, 'storage'))).toBe(false);
  });
});
