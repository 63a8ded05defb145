import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createKey } from '../../../../src/lib/encryption/index.ts';
import { systemEnv } from '../../../../src/lib/env.ts';
import type { DatabaseOptions } from '../../../../src/service/platform/database/database.ts';
import {
  createService,
  type Addresses,
  type Service,
  type ServiceOptions,
} from '../../../../src/service/start/service.ts';
import { databaseOf, forgetDatabase } from '../../database.ts';
import { answerAssumeRole, ROLE } from '../../stores/objects/assume-role.ts';
import { listen, startEmbedded } from '../../stores/objects/support.ts';

/** Resources that several processes share: a database, an object store, a key. */
export interface Shared {
  readonly options: ServiceOptions;
  /** A service over it; stopped with the others. */
  start(
    more?: Partial<ServiceOptions>,
  ): Promise<{ readonly service: Service; readonly addresses: Addresses }>;
  stop(): Promise<void>;
}

/** @param given a database that is none of the server that tests have; its owner removes it */
export async function share(given?: DatabaseOptions): Promise<Shared> {
  const store = await startEmbedded();
  const sts = createServer((request, response) => {
    void answerAssumeRole(store.store, request).then((xml) => response.end(xml));
  });
  const stsEndpoint = await listen(sts);
  const name = randomUUID();
  const database = given ?? (await databaseOf(name));
  if (database === undefined) throw new Error('These tests need a server.');
  const key = Buffer.from(createKey(systemEnv).bytes).toString('base64');
  const options: ServiceOptions = {
    database,
    objects: {
      endpoint: store.endpoint,
      publicEndpoint: undefined,
      stsEndpoint,
      bucket: store.store.bucket,
      region: 'us-east-1',
      roleArn: ROLE,
      credentials: store.store.keys.service,
      hasEncryption: true,
      hasChecksums: true,
    },
    environment: { GEX_ENCRYPTION_KEY: key },
    graceMs: 500,
  };
  const started: Service[] = [];
  return {
    options,
    async start(more = {}) {
      const service = createService({ ...options, ...more });
      const addresses = await service.start();
      started.push(service);
      return { service, addresses };
    },
    async stop() {
      await Promise.all(started.map(async (service) => await service.stop()));
      sts.closeAllConnections();
      sts.close();
      await store.close();
      await forgetDatabase(name);
    },
  };
}

/** One request as JSON. */
export async function ask(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const response = await fetch(`${url}/v2/storage/${path}`, {
    method,
    headers: { 'X-StorageApi-Token': token, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
