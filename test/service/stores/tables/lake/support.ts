import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { createLakeEngine, type LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import type { Log } from '../../../../../src/lib/log.ts';
import type { LakeOfDatabase } from '../../../../../src/service/stores/tables/lake/place.ts';
import { SERVER, type TestDatabase } from '../postgres/database.ts';

/** The folder with the extensions of DuckDB; the tests of a lake are not run without it. */
export const EXTENSIONS = process.env['GEX_DUCKDB_EXTENSIONS'];

const { TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY = '', TEST_S3_SECRET_KEY = '' } = process.env;

/** True when there is all for a lake of several processes: the extensions, a database and an object store. */
export const HAS_SHARED_LAKE =
  EXTENSIONS !== undefined && SERVER !== undefined && TEST_S3_ENDPOINT !== undefined;

const credentials = { accessKeyId: TEST_S3_ACCESS_KEY, secretAccessKey: TEST_S3_SECRET_KEY };

/** Makes a bucket and returns the place of a lake with its catalogue in a schema of the database. */
export async function sharedPlace(database: TestDatabase, schema = 'gex'): Promise<LakeOfDatabase> {
  const bucket = `lake-${randomBytes(6).toString('hex')}`;
  const client = new S3Client({
    endpoint: TEST_S3_ENDPOINT ?? '',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return {
    kind: 'database',
    pool: database.pool,
    url: database.url,
    schema,
    objects: { bucket, credentials, endpoint: TEST_S3_ENDPOINT, region: 'us-east-1' },
    root: 'team/',
  };
}

/** Makes an engine over a lake; several of them are several processes. */
export async function lakeOver(place: LakeOfDatabase, keepDays = 7, log?: Log): Promise<LakeEngine> {
  const workFolder = await mkdtemp(join(tmpdir(), 'lake-'));
  return createLakeEngine({
    place,
    workFolder,
    // Schemas of all versions stay in memory, and the contract makes hundreds of them.
    memoryLimitMb: 1024,
    extensions: EXTENSIONS,
    threads: 2,
    keepDays,
    log,
  });
}
