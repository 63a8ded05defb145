// @module-tag thorough
import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { toServiceError } from '../../../../src/service/domain/service-error.ts';
import { createExternalStore } from '../../../../src/service/stores/objects/external-store.ts';
import { sessionPolicy } from '../../../../src/service/stores/objects/session-policy.ts';
import { answerAssumeRole, assumeRole, ROLE } from './assume-role.ts';
import { describeObjectStore } from './contract.ts';
import { storeOfOthers } from './of-others.ts';
import { errorCode, listen, sdkCredentials, startEmbedded, textOf } from './support.ts';

describeObjectStore('the external store, over our own S3 endpoint', async () => {
  const embedded = await startEmbedded();
  const sts = createServer((request, response) => {
    void answerAssumeRole(embedded.store, request).then((xml) => response.end(xml));
  });
  const { accessKeyId, secretAccessKey } = embedded.store.keys.service;
  const store = await createExternalStore({
    endpoint: embedded.endpoint,
    stsEndpoint: await listen(sts),
    region: 'us-east-1',
    bucket: embedded.store.bucket,
    credentials: { accessKeyId, secretAccessKey },
    roleArn: ROLE,
    env: systemEnv,
  });
  return {
    store,
    client: embedded.client,
    hasEncryption: true,
    async close() {
      store.close();
      sts.closeAllConnections();
      sts.close();
      await embedded.close();
    },
  };
});

const others = storeOfOthers();
if (others !== undefined)
  describeObjectStore('the external store, over a store of others', async () => {
    const { config, hasEncryption, hasPaths } = others;
    await others.ready();
    const store = await createExternalStore({ ...others.options, env: systemEnv });
    return {
      store,
      hasEncryption,
      hasPaths,
      client: (temporary) => new S3Client({ ...config, credentials: sdkCredentials(temporary) }),
      close: () => Promise.resolve(store.close()),
    };
  });

describe('the external store', () => {
  test('signs addresses for the public endpoint', async () => {
    const store = await createExternalStore({
      endpoint: 'http://127.0.0.1:1',
      publicEndpoint: 'https://objects.example.com',
      region: 'eu-central-1',
      bucket: 'files',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const address = new URL(await store.presign('a/b c.csv', { expiresInSeconds: 60 }));
    expect(address.origin).toBe('https://objects.example.com');
    expect(address.pathname).toBe('/files/a/b%20c.csv');
    expect(address.searchParams.get('X-Amz-Credential')).toMatch(
      /^key\/\d{8}\/eu-central-1\/s3\/aws4_request$/,
    );
    store.close();
  });

  test('a role that allows an hour at most is asked for an hour, and not for more again', async () => {
    const asked: (string | null)[] = [];
    const embedded = await startEmbedded();
    const sts = createServer((request, response) => {
      void textOf(request).then(async (body) => {
        const seconds = new URLSearchParams(body).get('DurationSeconds');
        asked.push(seconds);
        const isTooLong = Number(seconds) > 3600;
        const refusal =
          '<ErrorResponse><Error><Code>ValidationError</Code><Message>Too long.</Message></Error></ErrorResponse>';
        response.statusCode = isTooLong ? 400 : 200;
        response.end(isTooLong ? refusal : await assumeRole(embedded.store, body));
      });
    });
    const store = await createExternalStore({
      endpoint: embedded.endpoint,
      stsEndpoint: await listen(sts),
      region: 'us-east-1',
      bucket: embedded.store.bucket,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const expiresAt = new Date(Date.now() + 12 * 3600_000);
    const scope = { key: 'x', isPrefix: false, access: 'upload', requiresEncryption: false } as const;
    const { Expiration } = await store.grant({ ...scope, expiresAt });
    await store.grant({ ...scope, expiresAt });
    expect(asked.map(Number)).toEqual([12 * 3600, 3600, 3600]);
    expect(Date.parse(Expiration)).toBeLessThanOrEqual(Date.now() + 3600_000);
    store.close();
    sts.closeAllConnections();
    sts.close();
    await embedded.close();
  });

  test('a store without lists of rights is given a policy without them, and what it refuses is told in its words', async () => {
    const policies: string[] = [];
    let isOpen = true;
    const embedded = await startEmbedded();
    const sts = createServer((request, response) => {
      void textOf(request).then(async (body) => {
        const policy = new URLSearchParams(body).get('Policy') ?? '';
        policies.push(policy);
        const isKnown = isOpen && !policy.includes('s3:PutObjectAcl');
        const refusal = `<ErrorResponse><Error><Code>InvalidParameterValue</Code><Message>unsupported action 's3:PutObjectAcl'</Message></Error></ErrorResponse>`;
        response.statusCode = isKnown ? 200 : 400;
        response.end(isKnown ? await assumeRole(embedded.store, body) : refusal);
      });
    });
    const store = await createExternalStore({
      endpoint: embedded.endpoint,
      stsEndpoint: await listen(sts),
      region: 'us-east-1',
      bucket: embedded.store.bucket,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const expiresAt = new Date(Date.now() + 900_000);
    const scope = { key: 'x', isPrefix: false, access: 'upload', requiresEncryption: false } as const;
    await store.grant({ ...scope, expiresAt });
    await store.grant({ ...scope, expiresAt });
    expect(policies.map((policy) => policy.includes('s3:PutObjectAcl'))).toEqual([true, false, false]);
    isOpen = false;
    const error: unknown = await store.grant({ ...scope, expiresAt }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: 'The object store cannot be used: it answered 400.',
      inFull: `The object store cannot be used: it answered 400: “unsupported action 's3:PutObjectAcl'” (InvalidParameterValue).`,
    });
    store.close();
    sts.closeAllConnections();
    sts.close();
    await embedded.close();
  });

  test.each(['Throttling', 'RequestExpired'])(
    'an STS that answers %s for a while keeps the rights that it knows',
    async (code) => {
      const withAcls: boolean[] = [];
      let isBusy = true;
      const embedded = await startEmbedded();
      const sts = createServer((request, response) => {
        void textOf(request).then(async (body) => {
          const hasAcls = new URLSearchParams(body).get('Policy')?.includes('s3:PutObjectAcl') === true;
          withAcls.push(hasAcls);
          // It is over at the moment at which less would be asked for.
          const refuses = isBusy && hasAcls;
          response.statusCode = refuses ? 400 : 200;
          const refusal = `<ErrorResponse><Error><Code>${code}</Code><Message>Later.</Message></Error></ErrorResponse>`;
          response.end(refuses ? refusal : await assumeRole(embedded.store, body));
        });
      });
      const store = await createExternalStore({
        endpoint: embedded.endpoint,
        stsEndpoint: await listen(sts),
        region: 'us-east-1',
        bucket: embedded.store.bucket,
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
        roleArn: ROLE,
        env: systemEnv,
      });
      const expiresAt = new Date(Date.now() + 900_000);
      const scope = { key: 'x', isPrefix: false, access: 'upload', requiresEncryption: false } as const;
      await expect(store.grant({ ...scope, expiresAt })).rejects.toThrow('it answered 400');
      isBusy = false;
      await store.grant({ ...scope, expiresAt });
      expect(withAcls).not.toContain(false);
      store.close();
      sts.closeAllConnections();
      sts.close();
      await embedded.close();
    },
  );

  test('a refusal after lists of rights were accepted is not taken for one of them', async () => {
    const withAcls: boolean[] = [];
    const embedded = await startEmbedded();
    const sts = createServer((request, response) => {
      void textOf(request).then(async (body) => {
        const hasAcls = new URLSearchParams(body).get('Policy')?.includes('s3:PutObjectAcl') === true;
        withAcls.push(hasAcls);
        const refuses = withAcls.length === 2;
        response.statusCode = refuses ? 400 : 200;
        const refusal =
          '<ErrorResponse><Error><Code>Odd</Code><Message>No.</Message></Error></ErrorResponse>';
        response.end(refuses ? refusal : await assumeRole(embedded.store, body));
      });
    });
    const store = await createExternalStore({
      endpoint: embedded.endpoint,
      stsEndpoint: await listen(sts),
      region: 'us-east-1',
      bucket: embedded.store.bucket,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const expiresAt = new Date(Date.now() + 900_000);
    const scope = { key: 'x', isPrefix: false, access: 'upload', requiresEncryption: false } as const;
    await store.grant({ ...scope, expiresAt });
    await expect(store.grant({ ...scope, expiresAt })).rejects.toThrow('it answered 400');
    await store.grant({ ...scope, expiresAt });
    expect(withAcls).toEqual([true, true, true]);
    store.close();
    sts.closeAllConnections();
    sts.close();
    await embedded.close();
  });

  test.each([
    [404, 'is not there'],
    [403, 'does not let its keys assume'],
  ])('a role that is refused by %i is named, as a refusal of the store', async (status, words) => {
    // Ceph answers without a body that the SDK can read.
    const sts = createServer((_, response) => response.writeHead(status).end());
    const store = await createExternalStore({
      endpoint: await listen(sts),
      region: 'us-east-1',
      bucket: 'files',
      credentials: { accessKeyId: 'key', secretAccessKey: 'very-secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const expiresAt = new Date(Date.now() + 3600_000);
    const scope = { key: 'x', isPrefix: false, access: 'upload', requiresEncryption: false } as const;
    const error: unknown = await store.grant({ ...scope, expiresAt }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'AccessDenied' });
    expect(String(error)).toContain(`“${ROLE}”`);
    expect(String(error)).toContain(words);
    expect(toServiceError(error)).toMatchObject({ status: 503, code: 'storage.objectStoreUnavailable' });
    store.close();
    sts.closeAllConnections();
    sts.close();
  });

  test('a store that does not answer is an ObjectError without secrets', async () => {
    const store = await createExternalStore({
      endpoint: 'http://127.0.0.1:1',
      region: 'us-east-1',
      bucket: 'files',
      credentials: { accessKeyId: 'key', secretAccessKey: 'very-secret' },
      roleArn: ROLE,
      env: systemEnv,
    });
    const work = store.head('x');
    expect(await errorCode(work)).toBe('ServiceUnavailable');
    await expect(work).rejects.toThrow(/^The object store cannot be reached\.$/);
    store.close();
  });

  test('the session policy spells patterns in keys as themselves and stays below 2,048 characters', () => {
    const scope = { isPrefix: true, access: 'download', requiresEncryption: false } as const;
    expect(sessionPolicy('files', { ...scope, key: 'a*b?c$d' })).toContain('files/a${*}b${?}c${$}d*');
    expect(sessionPolicy('files', { ...scope, key: 'x'.repeat(800) }).length).toBeLessThanOrEqual(2048);
  });
});
