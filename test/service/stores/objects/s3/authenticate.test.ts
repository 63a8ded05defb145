import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyRing } from '../../../../../src/service/stores/objects/key-ring.ts';
import { systemEnv } from '../../../../../src/lib/env.ts';
import type { GrantScope } from '../../../../../src/service/stores/objects/store.ts';
import { errorCode, fitting, getExactly, sendExactly, startEmbedded, type Embedded } from '../support.ts';

let s3: Embedded;
const Bucket = 'files';
const HOUR = 3600_000;
const scope = (): GrantScope => ({
  key: 'granted',
  isPrefix: false,
  access: 'download',
  requiresEncryption: false,
  expiresAt: new Date(Date.now() + HOUR),
});
const read = (client: ReturnType<Embedded['client']>, Key = 'granted') =>
  errorCode(client.send(new GetObjectCommand({ Bucket, Key })));

beforeAll(async () => {
  s3 = await startEmbedded();
  await s3.store.write('granted', Buffer.from('content'), { encrypted: false });
});
afterAll(() => s3.close());

describe('credentials', () => {
  test('a wrong secret, a foreign key, and the keys of another service are refused', async () => {
    const { accessKeyId } = s3.store.keys.service;
    const withKeys = (accessKeyId: string, secretAccessKey: string) =>
      s3.client(undefined, { credentials: { accessKeyId, secretAccessKey } });
    expect(await read(withKeys(accessKeyId, 'wrong'))).toBe('SignatureDoesNotMatch');
    expect(await read(withKeys('AKIAFOREIGN', 'secret'))).toBe('InvalidAccessKeyId');
    const foreign = createKeyRing(Buffer.alloc(32, 8), systemEnv).issue(scope());
    expect(await read(s3.client(foreign))).toBe('InvalidAccessKeyId');
    const own = await s3.store.grant(scope());
    expect(await read(s3.client({ ...own, SecretAccessKey: 'wrong' }))).toBe('SignatureDoesNotMatch');
    expect(await read(s3.client({ ...own, SessionToken: foreign.SessionToken }))).toBe('InvalidAccessKeyId');
  });

  test('a signature is compared to its last digit', async () => {
    const address = await s3.store.presign('granted', { expiresInSeconds: 60 });
    const digits = /X-Amz-Signature=([0-9a-f]{64})/.exec(address)?.[1] ?? '';
    expect((await getExactly(address)).status).toBe(200);
    for (let place = 0; place < 64; place++) {
      const other = digits[place] === '0' ? '1' : '0';
      const wrong = digits.slice(0, place) + other + digits.slice(place + 1);
      const answer = await getExactly(address.replace(digits, wrong));
      expect([place, answer.status]).toEqual([place, 403]);
      expect(answer.text).toContain('<Code>SignatureDoesNotMatch</Code>');
    }
    for (const cut of [digits.slice(0, 32), digits.slice(0, 63), `${digits}0`])
      expect((await getExactly(address.replace(digits, cut))).status).toBe(403);
  });

  test('a token cannot be changed to allow more', async () => {
    const own = await s3.store.grant(scope());
    const [content = '', seal = ''] = own.SessionToken.split('.');
    const wider = Buffer.from(content, 'base64url').toString().replace('"granted",false', '"",true');
    const forged = `${Buffer.from(wider).toString('base64url')}.${seal}`;
    expect(await read(s3.client({ ...own, SessionToken: forged }))).toBe('InvalidAccessKeyId');
  });

  test('credentials work after a restart with the same secret, until they expire', async () => {
    const before = createKeyRing(Buffer.alloc(32, 7), systemEnv).issue(scope());
    const client = s3.client(before);
    const found = await client.send(new GetObjectCommand({ Bucket, Key: 'granted' }));
    expect(await found.Body?.transformToString()).toBe('content');
    expect(before.Expiration).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    s3.advance(HOUR + 1000);
    expect(await read(s3.client(before))).toBe('ExpiredToken');
    s3.advance(-HOUR - 1000);
  });

  test('a clock that is more than 15 minutes off is refused', async () => {
    expect(await sendAt(Date.now() - 14 * 60_000)).toBe('content');
    expect(await sendAt(Date.now() - 16 * 60_000)).toContain('<Code>RequestTimeTooSkewed</Code>');
    expect(await sendAt(Date.now() + 16 * 60_000)).toContain('<Code>RequestTimeTooSkewed</Code>');
  });

  test('signed addresses expire, and no part of them can be changed', async () => {
    const address = await s3.store.presign('granted', { expiresInSeconds: 60 });
    expect((await getExactly(address)).text).toBe('content');
    for (const changed of [
      address.replace('X-Amz-Expires=60', 'X-Amz-Expires=600'),
      address.replace('/granted', '/other'),
      `${address}&response-content-type=text/html`,
    ])
      expect((await getExactly(changed)).text).toContain('<Code>SignatureDoesNotMatch</Code>');
    s3.advance(61_000);
    expect(await getExactly(address)).toMatchObject({
      status: 403,
      text: fitting(/Request has expired/),
    });
    s3.advance(-61_000);
  });

  test('requests without a signature, or with a broken one, are refused without a stray 500', async () => {
    const { endpoint } = s3;
    expect(await getExactly(`${endpoint}/files/granted`)).toMatchObject({
      status: 403,
      text: fitting(/AccessDenied/),
    });
    for (const authorization of [
      'Bearer x',
      'AWS4-HMAC-SHA256 Credential=a/b/c/s3/aws4_request',
      'AWS4-HMAC-SHA256',
    ]) {
      const answer = await sendExactly(endpoint, { path: '/files/granted', headers: { authorization } });
      expect(answer.status).toBe(400);
    }
    for (const path of [
      '/files/%',
      '/files/%ff',
      '/%00/x',
      '/?X-Amz-Algorithm=x',
      '/files/a?prefix=%zz',
      '*',
    ])
      expect((await sendExactly(endpoint, { path })).status).toBeLessThan(500);
  });

  test('Signature Version 2, the default of some clients for signed addresses, is told to sign otherwise', async () => {
    const path = '/files/granted?AWSAccessKeyId=AKIAX&Signature=x&Expires=1';
    const answers = [
      await sendExactly(s3.endpoint, { path }),
      await sendExactly(s3.endpoint, { path: '/files/granted', headers: { authorization: 'AWS AKIAX:x' } }),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 400, text: fitting(/InvalidRequest.*s3v4/s) });
  });

  test('the scope must name this region, and every x-amz header must be signed', async () => {
    const elsewhere = s3.client(undefined, { region: 'eu-west-1' });
    expect(await read(elsewhere)).toBe('AuthorizationHeaderMalformed');
    const answer = await signed({
      path: '/files/granted',
      headers: { 'x-amz-content-sha256': sha('') },
      unsigned: { 'x-amz-meta-added': '1' },
    });
    expect(answer).toMatchObject({
      status: 403,
      text: fitting(/<HeadersNotSigned>x-amz-meta-added/),
    });
  });
});

describe('bodies, signed by another implementation', () => {
  test('a body that is not the signed one is refused', async () => {
    const headers = { 'x-amz-content-sha256': sha('signed') };
    const answer = await signed({
      method: 'PUT',
      path: '/files/body',
      headers,
      body: [Buffer.from('other!')],
    });
    expect(answer).toMatchObject({
      status: 400,
      text: fitting(/<Code>XAmzContentSHA256Mismatch<\/Code>/),
    });
    expect(await s3.store.head('body')).toBeUndefined();
  });

  test('signed chunks are taken, and refused when one is changed', async () => {
    expect((await sendChunks('wOrld')).text).toContain('<Code>SignatureDoesNotMatch</Code>');
    expect(await s3.store.head('chunked')).toBeUndefined();
    expect((await sendChunks('world')).status).toBe(200);
    expect(await s3.store.head('chunked')).toMatchObject({ bytes: 10 });
    const found = await s3.client().send(new GetObjectCommand({ Bucket, Key: 'chunked' }));
    expect(found.ContentEncoding).toBeUndefined();
  });

  test('a client that waits for 100 Continue is asked for the body only when it may send it', async () => {
    expect(await putWaiting()).toEqual([200, true]);
    expect(await putWaiting('wrong')).toEqual([403, false]);
  });

  test('a client that leaves in the middle of its body leaves nothing', async () => {
    const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-length': '1000' };
    const { headers: all } = await sign({ method: 'PUT', path: '/files/left', headers });
    const { hostname, port } = new URL(s3.endpoint);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    socket.write(`PUT /files/left HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nhalf`);
    await systemEnv.sleep(50);
    socket.destroy();
    await systemEnv.sleep(50);
    expect(await s3.store.head('left')).toBeUndefined();
    await s3.client().send(new PutObjectCommand({ Bucket, Key: 'left', Body: 'whole' }));
    expect(await s3.store.head('left')).toMatchObject({ bytes: 5 });
  });
});

const sendAt = async (time: number) =>
  (
    await signed({
      headers: { 'x-amz-content-sha256': sha('') },
      time: new Date(time),
      path: '/files/granted',
    })
  ).text;

const sendChunks = async (text: string) => {
  const time = new Date();
  const headers = {
    'content-encoding': 'aws-chunked',
    'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'x-amz-decoded-content-length': '10',
  };
  const options = { method: 'PUT', path: '/files/chunked', headers, time };
  const wire = chunkWire(await signature(options), time, ['hello', 'world']).replace('world', text);
  return signed({ ...options, body: [Buffer.from(wire.slice(0, 50)), Buffer.from(wire.slice(50))] });
};

const putWaiting = async (secret?: string) => {
  const headers = {
    'x-amz-content-sha256': sha('waited'),
    'content-length': '6',
    expect: '100-continue',
  };
  const { headers: all } = await sign({ method: 'PUT', path: '/files/waited', headers }, secret);
  const sent = request(s3.endpoint, { method: 'PUT', path: '/files/waited', headers: all, agent: false });
  let wasAsked = false;
  sent.on('continue', () => {
    wasAsked = true;
    sent.end('waited');
  });
  sent.flushHeaders();
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  sent.destroy();
  return [response.statusCode, wasAsked];
};

interface RawRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly time?: Date;
  readonly body?: readonly Uint8Array[];
  /** Sent, but not signed. */
  readonly unsigned?: Readonly<Record<string, string>>;
}

async function sign(
  raw: RawRequest,
  secret = s3.store.keys.service.secretAccessKey,
): Promise<{ headers: Record<string, string> }> {
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    credentials: { accessKeyId: s3.store.keys.service.accessKeyId, secretAccessKey: secret },
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const { host, hostname } = new URL(s3.endpoint);
  const { path, method = 'GET', headers, time = new Date() } = raw;
  return signer.sign(
    { protocol: 'http:', hostname, path, method, query: {}, headers: { host, ...headers } },
    { signingDate: time },
  );
}

async function signed(raw: RawRequest) {
  const { headers } = await sign(raw);
  const { path, method = 'GET', body = [], unsigned } = raw;
  return sendExactly(s3.endpoint, { path, method, headers: { ...headers, ...unsigned }, body });
}

async function signature(raw: RawRequest): Promise<string> {
  return (await sign(raw)).headers['authorization']?.split('Signature=')[1] ?? '';
}

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    // The signer passes text or bytes.
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

function chunkWire(seed: string, time: Date, chunks: readonly string[]): string {
  const stamp = `${time.toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;
  const day = stamp.slice(0, 8);
  const key = [day, 'us-east-1', 's3', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${s3.store.keys.service.secretAccessKey}`,
  );
  let previous = seed;
  return [...chunks, '']
    .map((chunk) => {
      const text = [
        'AWS4-HMAC-SHA256-PAYLOAD',
        stamp,
        `${day}/us-east-1/s3/aws4_request`,
        previous,
        sha(''),
        sha(chunk),
      ];
      previous = hmac(key, text.join('\n')).toString('hex');
      return `${chunk.length.toString(16)};chunk-signature=${previous}\r\n${chunk}\r\n`;
    })
    .join('');
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
