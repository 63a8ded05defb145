import { appendFileSync, readdirSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  bytesBody,
  fileBody,
  type StorageClientOptions,
  type UploadBody,
} from '../../../src/storage/client/index.ts';
import { s3AddressOf } from '../../../src/storage/client/transfer/s3.ts';
import {
  bytesOf,
  clientOf,
  closedAddress,
  failureOf,
  noise,
  quickEnv,
  startServer,
  temporaryFolder,
} from './support.ts';

const MIB = 1024 * 1024;
const SECRET = 'the-secret-access-key';

interface Store {
  readonly url: string;
  /** Answers a request for an object; gets the number of the request, from 0. */
  readonly seen: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
  }[];
}
type OnObject = (request: IncomingMessage, response: ServerResponse, count: number) => unknown;

/** A service with one file, and the object store behind it on the same port. */
async function storeOf(onObject: OnObject, file: object = {}): Promise<Store> {
  const seen: Store['seen'] = [];
  const url: string = await startServer((request, response) => {
    const at = request.url ?? '';
    if (!at.startsWith('/v2/')) {
      seen.push({ method: request.method ?? '', url: at, headers: request.headers });
      return onObject(request, response, seen.length - 1);
    }
    const Expiration = new Date(Date.now() + 3_600_000).toISOString();
    const credentials = { AccessKeyId: 'AK', SecretAccessKey: SECRET, SessionToken: 'st', Expiration };
    const place = { bucket: 'files', key: 'exp/1.data' };
    request.resume();
    return response.setHeader('Content-Type', 'application/json').end(
      JSON.stringify({
        id: 1,
        name: 'data',
        isSliced: false,
        region: 'us-east-1',
        url: `${url}/files/exp/1.data?X-Amz-Signature=abc`,
        sizeBytes: null,
        s3Path: place,
        credentials,
        uploadParams: { ...place, acl: 'private', credentials },
        ...file,
      }),
    );
  });
  return { url, seen };
}

/** Answers GET as S3 does. */
function serve(content: Buffer, cutAfter: (count: number) => number | undefined): OnObject {
  return (request, response, count) => {
    const [, start = '0'] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? [];
    const part = content.subarray(Number(start));
    const range = { 'Content-Range': `bytes ${start}-${content.length - 1}/${content.length}` };
    const hasRange = request.headers.range !== undefined;
    response.writeHead(hasRange ? 206 : 200, {
      'Content-Length': part.length,
      ETag: '"one"',
      ...(hasRange ? range : {}),
    });
    const cut = cutAfter(count);
    if (cut === undefined) return response.end(part);
    return response.write(part.subarray(0, cut), () => setTimeout(() => request.socket.destroy(), 20));
  };
}

function failWith(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}!</Message></Error>`);
}

describe('a download', () => {
  test('that is cut goes on where it was, of the same content', async () => {
    const content = noise(300_000);
    const { url, seen } = await storeOf(serve(content, (count) => (count < 3 ? 50_000 : undefined)));
    const { env, waits } = quickEnv();
    const positions: number[] = [];
    const client = clientOf(url, { env, onProgress: ({ bytes }) => positions.push(bytes) });
    expect((await bytesOf(await client.files.read(1))).equals(content)).toBe(true);
    expect(positions.at(-1)).toBe(content.length);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(seen.map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=50000-',
      'bytes=100000-',
      'bytes=150000-',
    ]);
    expect(seen[1]?.headers['if-match']).toBe('"one"');
    expect(waits).toEqual([500, 500, 500]);
  });

  test('that falls silent goes on over a new connection', async () => {
    const content = noise(200_000);
    const whole = serve(content, () => undefined);
    const { url, seen } = await storeOf((request, response, count) => {
      if (count > 0) return whole(request, response, count);
      response.writeHead(200, { 'Content-Length': content.length, ETag: '"one"' });
      return response.write(content.subarray(0, 100_000)); // and no more
    });
    const client = clientOf(url, { s3: { silentMs: 200 } });
    expect((await bytesOf(await client.files.read(1))).equals(content)).toBe(true);
    expect(seen[1]?.headers.range).toBe('bytes=100000-');
  });

  test('that brings nothing any more is given up, and leaves no file under its name', async () => {
    const { url } = await storeOf(serve(noise(1000), (count) => (count === 0 ? 400 : 0)));
    const folder = await temporaryFolder();
    const error = await failureOf(clientOf(url).files.downloadTo(1, path.join(folder, 'a')));
    expect(error.code).toBe('storage.transferFailed');
    const [part = '', ...others] = await readdir(folder);
    expect(part).toMatch(/^a\.1-[0-9a-f]{8}\.part$/);
    expect(others).toEqual([]);
    expect((await readFile(path.join(folder, part))).length).toBe(400);
  });

  test('of content that was replaced meanwhile fails', async () => {
    const cut = serve(noise(1000), () => 400);
    const { url } = await storeOf((request, response, count) =>
      count === 0 ? cut(request, response, count) : failWith(response, 412, 'PreconditionFailed'),
    );
    const error = await failureOf(bytesOf(await clientOf(url).files.read(1)));
    expect(error.message).toContain('the content was replaced meanwhile');
  });

  test('gets new credentials when they have expired on the way', async () => {
    const content = noise(1000);
    const whole = serve(content, (count) => (count === 0 ? 400 : undefined));
    const { url, seen } = await storeOf((request, response, count) =>
      count === 1 ? failWith(response, 400, 'ExpiredToken') : whole(request, response, count),
    );
    expect((await bytesOf(await clientOf(url).files.read(1))).equals(content)).toBe(true);
    expect(seen).toHaveLength(3);
  });

  test('can be abandoned, and be ended by a signal', async () => {
    const { url } = await storeOf(serve(noise(5 * MIB), () => MIB));
    const stream = await clientOf(url).files.read(1);
    for await (const chunk of stream) {
      expect(chunk).toBeDefined();
      break;
    }
    expect(stream.destroyed).toBe(true);
    const stop = new AbortController();
    const reason = new Error('enough');
    const client = clientOf(url, { onProgress: () => stop.abort(reason) });
    await expect(client.files.read(1, { signal: stop.signal }).then(bytesOf)).rejects.toBe(reason);
  });

  test('gets new credentials when they are refused before they say so', async () => {
    const content = Buffer.from('content');
    const whole = serve(content, () => undefined);
    const { url, seen } = await storeOf((request, response, count) =>
      count === 0 ? failWith(response, 400, 'ExpiredToken') : whole(request, response, count),
    );
    expect((await bytesOf(await clientOf(url).files.read(1))).equals(content)).toBe(true);
    expect(seen).toHaveLength(2);
    const again = await storeOf((_, response) => failWith(response, 400, 'ExpiredToken'));
    const error = await failureOf(bytesOf(await clientOf(again.url).files.read(1)));
    expect(error.message).toContain('the credentials of the file have expired');
    expect(again.seen).toHaveLength(2);
  });

  test('from a store that sends everything instead of the rest fails, and doubles nothing', async () => {
    const content = noise(1000);
    const { url } = await storeOf((request, response, count) => {
      response.writeHead(200, { 'Content-Length': content.length, ETag: '"one"' });
      if (count > 0) return response.end(content);
      return response.write(content.subarray(0, 400), () => setTimeout(() => request.socket.destroy(), 20));
    });
    const error = await failureOf(bytesOf(await clientOf(url).files.read(1)));
    expect(error.message).toContain('does not send parts of a file');
  });

  test('loses nothing when the progress is told to something that fails', async () => {
    const { url, seen } = await storeOf(serve(noise(1000), () => undefined));
    const broken = new Error('the screen is gone');
    const onProgress = (): void => {
      throw broken;
    };
    await expect(clientOf(url).files.read(1, { onProgress }).then(bytesOf)).rejects.toBe(broken);
    expect(seen).toHaveLength(1);
  });

  test('goes on with what is of the same file only', async () => {
    const folder = await temporaryFolder();
    const target = path.join(folder, 'a');
    const half = await storeOf(serve(Buffer.from('old content'), (count) => (count === 0 ? 6 : 0)));
    await failureOf(clientOf(half.url).files.downloadTo(1, target));
    const other = await storeOf(
      serve(Buffer.from('new content'), () => undefined),
      { created: '2027-01-01T00:00:00+0000' },
    );
    await clientOf(other.url).files.downloadTo(1, target);
    expect(await readFile(target, 'utf8')).toBe('new content');
  });

  test('that something else writes at the same time fails', async () => {
    const folder = await temporaryFolder();
    const target = path.join(folder, 'a');
    const { url } = await storeOf(serve(Buffer.from('content'), () => undefined));
    const onProgress = (): void => {
      const [part = ''] = readdirSync(folder);
      appendFileSync(path.join(folder, part), 'content of another process');
    };
    const error = await failureOf(clientOf(url).files.downloadTo(1, target, { onProgress }));
    expect(error.message).toContain('Something else wrote');
    expect(await readdir(folder)).toEqual([]);
  });

  test('that cannot be gone on with leaves nothing behind when it fails', async () => {
    const { url } = await storeOf(serve(Buffer.from('plain text'), () => undefined));
    const folder = await temporaryFolder();
    await failureOf(clientOf(url).files.downloadTo(1, path.join(folder, 'a'), { gunzip: true }));
    expect(await readdir(folder)).toEqual([]);
  });

  test('of a compressed slice without any byte is empty', async () => {
    const { url } = await storeOf(serve(Buffer.alloc(0), () => undefined));
    expect(await bytesOf(await clientOf(url).files.read(1, { gunzip: true }))).toHaveLength(0);
  });

  test('of a table that was exported into one whole file has its header once', async () => {
    const csv = '"a ""1""\n","b"\n"1","2"\n';
    const { url } = await storeOf(
      serve(Buffer.from(csv), () => undefined),
      { tags: ['table-export'] },
    );
    const read = async (header: string[]) =>
      (await bytesOf(await clientOf(url).files.read(1, { header }))).toString();
    expect(await read(['a "1"\n', 'b'])).toBe(csv);
    expect(await read([])).toBe('"1","2"\n');
  });

  test('of text that is not compressed says so', async () => {
    const { url } = await storeOf(serve(Buffer.from('plain text'), () => undefined));
    const error = await failureOf(bytesOf(await clientOf(url).files.read(1, { gunzip: true })));
    expect(error.message).toContain('“data” is not compressed, or is broken (Z_DATA_ERROR)');
  });

  test('follows no manifest to another place', async () => {
    const manifest = Buffer.from(JSON.stringify({ entries: [{ url: 's3://files/exp/2.other' }] }));
    const { url, seen } = await storeOf(
      serve(manifest, () => undefined),
      { isSliced: true },
    );
    const error = await failureOf(bytesOf(await clientOf(url).files.read(1)));
    expect(error.message).toContain('a slice that is not of this file');
    expect(seen.map((each) => each.url.replace(/\?.*/, ''))).toEqual(['/files/exp/1.datamanifest']);
  });

  test('leaves out a missing slice that is not mandatory, and no other', async () => {
    const entries = ['a', 'gone', 'b'].map((name) => ({
      url: `s3://files/exp/1.data${name}`,
      mandatory: name !== 'gone',
    }));
    const onObject: OnObject = (request, response, count) => {
      const name = /1\.data(\w*)/.exec(request.url ?? '')?.[1] ?? '';
      if (name === 'gone') return failWith(response, 404, 'NoSuchKey');
      const text = name === 'manifest' ? JSON.stringify({ entries }) : name;
      return serve(Buffer.from(text), () => undefined)(request, response, count);
    };
    const { url } = await storeOf(onObject, { isSliced: true });
    expect((await bytesOf(await clientOf(url).files.read(1))).toString()).toBe('ab');
    const missing = entries.splice(1, 1).map((entry) => ({ ...entry, mandatory: true }));
    entries.push(...missing);
    expect((await failureOf(bytesOf(await clientOf(url).files.read(1)))).code).toBe('storage.notFound');
  });
});

/** Reads a request and answers it, or fails it. */
function accept(onRequest: (count: number) => 'cut' | 'ok' | { status: number; code: string }): OnObject {
  return (request, response, count) => {
    const what = onRequest(count);
    if (what === 'cut') return void request.once('data', () => request.socket.destroy());
    request.resume();
    return void request.once('end', () =>
      what === 'ok' ? response.setHeader('ETag', '"e"').end() : failWith(response, what.status, what.code),
    );
  };
}

const quick = (options: Partial<StorageClientOptions> = {}): Partial<StorageClientOptions> => ({
  env: quickEnv().env,
  ...options,
});

describe('an upload', () => {
  test('that is cut is sent again', async () => {
    const { url, seen } = await storeOf(accept((count) => (count < 2 ? 'cut' : 'ok')));
    await clientOf(url, quick()).files.upload(bytesBody('content'), { name: 'data' });
    expect(seen.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT']);
  });

  test('whose store falls silent is sent again', async () => {
    const ok = accept(() => 'ok');
    const { url, seen } = await storeOf((request, response, count) =>
      count > 0 ? ok(request, response, count) : {},
    );
    await clientOf(url, quick({ s3: { silentMs: 200 } })).files.upload(bytesBody('x'), { name: 'data' });
    expect(seen).toHaveLength(2);
  });

  test('that the store forbids is not', async () => {
    const { url, seen } = await storeOf(accept(() => ({ status: 403, code: 'AccessDenied' })));
    const error = await failureOf(clientOf(url, quick()).files.upload(bytesBody('x'), { name: 'data' }));
    expect(error.message).toBe('The upload of “data” failed: the object store did not allow it.');
    expect(JSON.stringify(error)).not.toContain(SECRET);
    expect(seen).toHaveLength(1);
  });

  test(
    'sends the same part again for a minute, and opens its content once',
    { tags: 'thorough' },
    async () => {
      let opened = 0;
      const body: UploadBody = { bytes: 7, open: () => (opened++, Readable.from(Buffer.from('content'))) };
      const failing: { until: number; seen: number } = { until: 0, seen: 0 };
      const { url } = await storeOf(
        accept(() => (failing.seen++ < failing.until ? { status: 500, code: 'InternalError' } : 'ok')),
      );
      const { env, waits } = quickEnv();
      const client = clientOf(url, { env });
      await client.files.upload(body, { name: 'first' });
      failing.until = failing.seen + 51; // three at once each time, by the SDK
      await client.files.upload(body, { name: 'data' });
      // Never much longer than a store takes to be there again.
      expect(waits).toEqual([1000, 2000, ...Array.from({ length: 15 }, () => 4000)]);
      expect(opened).toBe(2);
    },
  );

  test('or a download is no success when a page answers in the place of the store', async () => {
    const { url } = await storeOf((request, response) => {
      request.resume();
      request.once('end', () => response.setHeader('Content-Type', 'text/html').end('<html>Log in</html>'));
    });
    const { files } = clientOf(url);
    const said = 'What answered in the place of the object store is none.';
    expect((await failureOf(files.upload(bytesBody('x'), { name: 'data' }))).message).toBe(said);
    expect((await failureOf(bytesOf(await files.read(1)))).message).toBe(said);
  });

  test('to a store that has never answered well is given up sooner', async () => {
    const { url, seen } = await storeOf(accept(() => ({ status: 500, code: 'InternalError' })));
    const { env, waits } = quickEnv();
    const error = await failureOf(clientOf(url, { env }).files.upload(bytesBody('x'), { name: 'data' }));
    expect(error.code).toBe('storage.transferFailed');
    expect(waits).toEqual([1000, 2000]);
    expect(seen).toHaveLength(9);
  });

  test('whose parts the store has lost opens its content anew', async () => {
    let opened = 0;
    const content = noise(11 * MIB);
    const body: UploadBody = {
      bytes: content.length,
      open: () => (opened++, Readable.from(content, { objectMode: false })),
    };
    const { url, seen } = await storeOf((request, response) => {
      request.resume();
      request.once('end', () => {
        const isCreate = /[?&]uploads/.test(request.url ?? '');
        if (isCreate) return response.end(`<X><UploadId>u${opened}</UploadId></X>`);
        if (request.method === 'PUT') return response.setHeader('ETag', '"e"').end();
        if (request.method === 'POST' && opened === 1) return failWith(response, 404, 'NoSuchUpload');
        return response.end('<X><ETag>"e"</ETag></X>');
      });
    });
    await clientOf(url, quick()).files.upload(body, { name: 'data' });
    expect(opened).toBe(2);
    expect(seen.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  test('that was ended does not wait for a store that is silent', { tags: 'thorough' }, async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const { url } = await storeOf((request, response) => {
      request.resume();
      if (/[?&]uploads/.test(request.url ?? '')) return response.end('<X><UploadId>u</UploadId></X>');
      if (request.method === 'DELETE') return {}; // no answer
      return void setTimeout(() => stop.abort(reason), 50);
    });
    // Short times are over at once, and longer ones never.
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) =>
      ms > 1000 ? new AbortController().signal : timeout(ms),
    );
    onTestFinished(() => void vi.restoreAllMocks());
    const upload = clientOf(url).files.upload(bytesBody(noise(9 * MIB)), {
      name: 'data',
      signal: stop.signal,
    });
    await expect(upload).rejects.toBe(reason);
  });

  test('of content that cannot be read fails with what the content says', async () => {
    const { url } = await storeOf(accept(() => 'ok'));
    const client = clientOf(url, quick());
    const broken = new Error('the disk is gone');
    const half = (bytes: number | undefined): UploadBody => ({
      bytes,
      open: () =>
        Readable.from(
          (function* () {
            yield Buffer.from('half');
            throw broken;
          })(),
        ),
    });
    await expect(client.files.upload(half(8), { name: 'data' })).rejects.toBe(broken);
    await expect(client.files.upload(half(undefined), { name: 'data' })).rejects.toBe(broken);
    await expect(client.files.uploadByImporter(half(8), { name: 'data', importUrl: url })).rejects.toBe(
      broken,
    );
    await expect(fileBody('no/such/file')).rejects.toThrow('ENOENT');
    expect((await failureOf(fileBody('/dev/null'))).message).toBe('“/dev/null” is no file.');
  });

  test('fails with what is thrown by who is told how far it is', async () => {
    const { url } = await storeOf(accept(() => 'ok'));
    const broken = new Error('the screen is gone');
    const options = {
      name: 'data',
      importUrl: url,
      onProgress: () => {
        throw broken;
      },
    };
    const { files } = clientOf(url);
    await expect(files.upload(bytesBody('x'), options)).rejects.toBe(broken);
    await expect(files.uploadByImporter(bytesBody('x'), options)).rejects.toBe(broken);
  });

  test('of content that changed while it was sent fails, and stores nothing', async () => {
    const { url, seen } = await storeOf(accept(() => 'ok'));
    for (const [bytes, said] of [
      [3, 'more bytes instead of 3'],
      [9, '4 bytes instead of 9'],
    ] as const) {
      const body: UploadBody = { bytes, open: () => Readable.from(Buffer.from('four')) };
      const error = await failureOf(clientOf(url, quick()).files.upload(body, { name: 'data' }));
      expect(error.message).toContain(`the content had ${said}`);
    }
    expect(seen).toEqual([]);
  });

  test('is ended by a signal', async () => {
    const { url } = await storeOf(() => {});
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 100);
    const upload = clientOf(url, quick()).files.upload(bytesBody(noise(12 * MIB)), {
      name: 'data',
      signal: stop.signal,
    });
    await expect(upload).rejects.toBe(reason);
  });

  test('to a store that nobody reaches says where it failed', async () => {
    const { url } = await storeOf(() => {});
    const client = clientOf(url, quick({ s3: { endpoint: await closedAddress() } }));
    const error = await failureOf(client.files.upload(bytesBody('x'), { name: 'data' }));
    expect(error.message).toMatch(/^The upload of “data” failed: .*ECONNREFUSED/);
  });

  test('sends all slices when none may be sent at a time', async () => {
    const { url, seen } = await storeOf(accept(() => 'ok'));
    const slices = ['a', 'b'].map((name) => ({ name, body: bytesBody(name) }));
    const client = clientOf(url, quick({ s3: { concurrency: 0 } }));
    await client.files.uploadSliced(slices, { name: 'data' });
    expect(seen).toHaveLength(3);
  });

  test('gives the file before its content is sent', async () => {
    const { url, seen } = await storeOf(accept(() => 'ok'));
    const told: number[] = [];
    await clientOf(url, quick()).files.upload(bytesBody('x'), {
      name: 'data',
      onPrepared: ({ id }) => void told.push(id, seen.length),
    });
    expect(told).toEqual([1, 0]);
  });

  test.each([['manifest'], ['a/b'], [''], ['same', 'same']])(
    'with slices named %s is refused',
    async (...names) => {
      const slices = names.map((name) => ({ name, body: bytesBody('x') }));
      const { url, seen } = await storeOf(accept(() => 'ok'));
      const error = await failureOf(clientOf(url, quick()).files.uploadSliced(slices, { name: 'data' }));
      expect(error.code).toBe('storage.refused');
      expect(seen).toEqual([]);
    },
  );
});

describe('a file of the disk', () => {
  test('is sent as long as it was when it was looked at', async () => {
    const file = path.join(await temporaryFolder(), 'a');
    await writeFile(file, 'one');
    const body = await fileBody(file);
    await writeFile(file, 'one and two');
    expect(body.bytes).toBe(3);
    expect((await bytesOf(body.open())).toString()).toBe('one');
    expect((await bytesOf(body.open())).toString()).toBe('one');
  });
});

describe('the object store is', () => {
  test.each([
    ['http://127.0.0.1:9000/files/exp/1?X=1', undefined, 'http://127.0.0.1:9000', true],
    ['https://store.example.com/s3/files/exp/1', undefined, 'https://store.example.com/s3', true],
    ['https://files.store.example.com:8443/exp/1', undefined, 'https://store.example.com:8443', false],
    ['https://files.s3.us-east-1.amazonaws.com/exp/1', undefined, undefined, false],
    ['https://files.s3.us-east-1.amazonaws.com/exp/1', 'http://127.0.0.1:1', 'http://127.0.0.1:1', true],
    ['', undefined, undefined, false],
  ])('for %s and %s: %s', (url, given, endpoint, forcePathStyle) => {
    expect(s3AddressOf(url, 'files', given)).toEqual({
      ...(endpoint === undefined ? {} : { endpoint }),
      forcePathStyle,
    });
  });
});
