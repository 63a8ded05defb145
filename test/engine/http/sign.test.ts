import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseAwsCredentials, signAws, type AwsCredentials } from '../../../src/engine/http/sign.ts';
import { createTransport } from '../../../src/engine/http/send/transport.ts';
import { DEFAULT_RETRY, retry } from '../../../src/engine/http/retry.ts';
import type { ApiRequest } from '../../../src/engine/shared/message.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { failure, fakeEnv, signal, startApi } from './auth/support.ts';

// The key and the date of the test suite that AWS published for Signature Version 4.
const vector: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  serviceName: 'service',
  regionName: 'us-east-1',
};
const vectorEnv = fakeEnv(Date.UTC(2015, 7, 30, 12, 36, 0) / 1000);

async function signed(request: ApiRequest, credentials = vector): Promise<ApiRequest> {
  const sent: ApiRequest[] = [];
  await signAws(
    credentials,
    vectorEnv,
  )(async (one) => {
    sent.push(one);
    return { status: 200, headers: {}, url: one.url, body: new Uint8Array() };
  })(request, { signal });
  return sent[0] ?? request;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The signature of a canonical request, worked out step by step. */
function signatureOf(canonical: string, { secretKey, serviceName, regionName }: AwsCredentials): string {
  const scope = ['20150830', regionName, serviceName, 'aws4_request'];
  let key: string | Buffer = `AWS4${secretKey}`;
  for (const part of scope) key = createHmac('sha256', key).update(part).digest();
  return createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', '20150830T123600Z', scope.join('/'), sha256(canonical)].join('\n'))
    .digest('hex');
}

describe('the AWS signature', () => {
  test('is the published one of get-vanilla', async () => {
    const { headers } = await signed({ method: 'GET', url: 'https://example.amazonaws.com/', headers: {} });
    expect(headers).toEqual({
      'x-amz-date': '20150830T123600Z',
      Authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    });
  });

  test('is the published one of get-vanilla-query-order-key-case', async () => {
    const { headers } = await signed({
      method: 'GET',
      url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1',
      headers: {},
    });
    expect(headers['Authorization']).toContain(
      'Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    );
  });

  test('covers port, bare names, repeated names, encoded path and body, but no header that changes on the way', async () => {
    const url = 'https://h.example.com:8443/a%20b/c?z&a=2&a=1&s=x+y&e=%C3%A9';
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'x', Accept: '*/*' };
    const request = await signed({ method: 'POST', url, headers, body: '{"a":1}' });
    expect(request.url).toBe('https://h.example.com:8443/a%20b/c?z&a=2&a=1&s=x%20y&e=%C3%A9');
    const canonical = [
      'POST',
      '/a%2520b/c',
      'a=1&a=2&e=%C3%A9&s=x%20y&z=',
      'content-type:application/json',
      'host:h.example.com:8443',
      'x-amz-date:20150830T123600Z',
      '',
      'content-type;host;x-amz-date',
      sha256('{"a":1}'),
    ].join('\n');
    expect(request.headers['Authorization']).toContain(
      `SignedHeaders=content-type;host;x-amz-date, Signature=${signatureOf(canonical, vector)}`,
    );
    expect(request.headers).toMatchObject(headers);
  });

  test('for S3 takes the path as it is sent, with the checksum of the body; a session token is signed', async () => {
    const credentials = { ...vector, serviceName: 's3', sessionToken: 'sess' };
    const { headers } = await signed(
      { method: 'GET', url: 'https://b.s3.amazonaws.com/a%20b//c', headers: {} },
      credentials,
    );
    const canonical = [
      'GET',
      '/a%20b//c',
      '',
      'host:b.s3.amazonaws.com',
      `x-amz-content-sha256:${sha256('')}`,
      'x-amz-date:20150830T123600Z',
      'x-amz-security-token:sess',
      '',
      'host;x-amz-content-sha256;x-amz-date;x-amz-security-token',
      sha256(''),
    ].join('\n');
    expect(headers['Authorization']).toContain(`Signature=${signatureOf(canonical, credentials)}`);
    expect(headers).toMatchObject({ 'x-amz-content-sha256': sha256(''), 'x-amz-security-token': 'sess' });
  });

  test('is made anew for each retry, and arrives', async () => {
    let calls = 0;
    const api = await startApi(() => ({ status: calls++ === 0 ? 503 : 200 }));
    const env = fakeEnv();
    const transport = createTransport();
    const context = { env, log: silentLog, secrets: new Secrets() };
    const send = retry(DEFAULT_RETRY, context)(signAws(vector, env)(transport.send));
    await send({ method: 'GET', url: `${api.url}users`, headers: {} }, { signal });
    expect(api.seen.map(({ headers }) => headers['x-amz-date'])).toEqual([
      '20170714T024000Z',
      '20170714T024001Z',
    ]);
    expect(new Set(api.seen.map(({ headers }) => headers.authorization)).size).toBe(2);
    await transport.close();
  });

  test('without credentials there is none', () => {
    for (const aws of [undefined, [], {}, { signature: [] }])
      expect(parseAwsCredentials(aws)).toBeUndefined();
  });

  test.each(['accessKeyId', '#secretKey', 'serviceName', 'regionName'])(
    'without %s it is an error that names the key',
    async (key) => {
      const all: Record<string, Json> = {
        accessKeyId: 'a',
        '#secretKey': 'b',
        serviceName: 'c',
        regionName: 'd',
      };
      expect(parseAwsCredentials({ signature: { credentials: all } })).toEqual({
        accessKeyId: 'a',
        secretKey: 'b',
        serviceName: 'c',
        regionName: 'd',
      });
      for (const credentials of [
        { ...all, [key]: '' },
        Object.fromEntries(Object.entries(all).filter(([name]) => name !== key)),
      ]) {
        expect(await failure(() => parseAwsCredentials({ signature: { credentials } }))).toMatchObject({
          code: 'config.invalid',
          path: `parameters.aws.signature.credentials.${key}`,
          message: `The AWS signature needs “${key}”.`,
        });
      }
    },
  );
});
