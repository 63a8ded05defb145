import { once } from 'node:events';
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { openDatabase, type Database } from '../../../../src/service/platform/database/database.ts';
import { createDatabaseObjects } from '../../../../src/service/stores/objects/database/objects.ts';
import { createOwnStore } from '../../../../src/service/stores/objects/folder-store.ts';
import { createS3Server } from '../../../../src/service/stores/objects/s3/server.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { describeObjectStore } from './contract.ts';
import { errorCode, listen, SECRET, sdkCredentials, textOf } from './support.ts';

const PLACE = 'objects in a database';

async function openPlace(): Promise<Database> {
  const options = await databaseOf(PLACE);
  if (options === undefined) throw new Error('There is no server.');
  return await openDatabase(options, silentLog);
}

if (isOnPostgres)
  describeObjectStore('the store in a database', async () => {
    const database = await openPlace();
    let endpoint = '';
    const store = createOwnStore(createDatabaseObjects(database, systemEnv), {
      secret: SECRET,
      endpoint: () => endpoint,
      env: systemEnv,
      log: silentLog,
    });
    await store.open();
    const server = createS3Server(store.handler);
    endpoint = await listen(server);
    return {
      store,
      hasEncryption: true,
      client: (credentials) =>
        new S3Client({
          endpoint,
          region: store.region,
          forcePathStyle: true,
          maxAttempts: 1,
          credentials: sdkCredentials(credentials),
        }),
      async close() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
        await database.close();
        await forgetDatabase(PLACE);
      },
    };
  });

describe.skipIf(!isOnPostgres)('objects in a database', () => {
  const attributes = { isEncrypted: false, userMetadata: {} };
  let database: Database;
  const objects = () => createDatabaseObjects(database, systemEnv, { minPartBytes: 1 });
  const countBodies = async () => (await database.pool.query('select from gex.object_bodies')).rows.length;

  beforeAll(async () => {
    database = await openPlace();
    await Promise.all([objects().open(), objects().open(), objects().open()]);
  });
  afterAll(async () => {
    await database.close();
    await forgetDatabase(PLACE);
  });

  test('ranges across pieces and parts are exact', async () => {
    const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, i) => (i * 7 + (i >> 9)) % 251));
    const folder = objects();
    const id = await folder.createUpload('joined', { attributes });
    const upload = await folder.uploadOf('joined', id);
    const cuts = [0, 1_200_000, 1_200_001, 2_500_000];
    const parts = [];
    for (const [i, start] of cuts.slice(0, -1).entries()) {
      const { etag } = await folder.putPart(upload, i + 1, [bytes.subarray(start, cuts[i + 1])], {
        checksums: [],
      });
      parts.push({ part: i + 1, etag, checksums: {} });
    }
    await folder.completeUpload('joined', id, parts, {});
    const read = async (range?: { start: number; end: number }) => {
      const object = await folder.get('joined');
      const chunks = [];
      // Streams without an encoding give bytes.
      for await (const chunk of object?.read(range) ?? []) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    };
    expect((await read()).equals(bytes)).toBe(true);
    for (const [start, end] of [
      [0, 0],
      [1_048_575, 1_048_576],
      [1_199_999, 1_200_001],
      [1_000_000, 2_499_999],
    ] as const)
      expect((await read({ start, end })).equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  test('nothing is left of bytes that were not sent to their end, and of what was replaced or deleted', async () => {
    const folder = objects();
    const before = await countBodies();
    const cut = Readable.from(
      (function* () {
        yield Buffer.alloc(1_500_000, 1);
        throw new Error('cut');
      })(),
    );
    await expect(folder.put('cut', cut, { attributes, checksums: [] })).rejects.toThrow('cut');
    expect(await folder.head('cut')).toBeUndefined();
    await folder.put('twice', [Buffer.from('one')], { attributes, checksums: [] });
    await folder.put('twice', [Buffer.from('two')], { attributes, checksums: [] });
    expect(await textOf((await folder.get('twice'))?.read() ?? Readable.from([]))).toBe('two');
    expect(await countBodies()).toBe(before + 1);
    await folder.delete('twice');
    const id = await folder.createUpload('begun', { attributes });
    await folder.putPart(await folder.uploadOf('begun', id), 1, [Buffer.from('part')], { checksums: [] });
    await database.pool.query("insert into gex.object_bodies (id) values ('of a killed process')");
    await folder.dropUploads(Date.now() + 60_000);
    expect(await countBodies()).toBe(before);
  });

  test('an object that is deleted while it is read ends the reading with an error', async () => {
    const folder = objects();
    await folder.put('long', [Buffer.alloc(3_000_000, 1)], { attributes, checksums: [] });
    const stream = (await folder.get('long'))?.read() ?? Readable.from([]);
    const reading = stream[Symbol.asyncIterator]();
    await reading.next();
    await folder.delete('long');
    const rest = async () => {
      for (let next = await reading.next(); next.done !== true; next = await reading.next());
    };
    expect(await errorCode(rest())).toBe('NoSuchKey');
  });
});
