import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const POSTGRES = fileURLToPath(new URL('../../scripts/postgres.sh', import.meta.url));
const run = promisify(execFile);

/** A PostgreSQL server whose transactions are on disk when they are acknowledged. */
export interface Database {
  readonly url: string;
  /** Id of the server's first process, whose children are all others. */
  readonly pid: () => number;
  /** As when the machine loses power, and starts again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabase(folder: string, port: number): Promise<Database> {
  // The server runs as another user.
  chmodSync(path.dirname(folder), 0o755);
  const start = async (): Promise<string> =>
    (await run('bash', [POSTGRES, 'start', folder, String(port), '--durable'])).stdout.trim();
  return {
    url: await start(),
    pid: () => Number.parseInt(readFileSync(path.join(folder, 'data/postmaster.pid'), 'utf8'), 10),
    async crash() {
      await run('bash', [POSTGRES, 'stop', folder, 'immediate']);
      await start();
    },
    stop: async () => void (await run('bash', [POSTGRES, 'stop', folder, 'fast'])),
  };
}

/** A bucket of a store that runs already; of a Ceph gateway whose folder is known, also what kills it. */
export interface Store {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the gateway by SIGKILL and starts it again after so many milliseconds. */
  kill?(pauseMs: number): Promise<void>;
}

export interface StoreOptions {
  readonly endpoint: string;
  readonly bucket: string;
  readonly roleArn: string;
  /** Folder of a Ceph gateway on this machine. */
  readonly cephFolder?: string | undefined;
}

export async function openStore({ endpoint, bucket, roleArn, cephFolder }: StoreOptions): Promise<Store> {
  const { GEX_S3_ACCESS_KEY = 'SVCKEY', GEX_S3_SECRET_KEY = 'svcsecret' } = process.env;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId: GEX_S3_ACCESS_KEY, secretAccessKey: GEX_S3_SECRET_KEY },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
    if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
  });
  client.destroy();
  const store: Store = {
    args: ['--s3', endpoint, '--s3-bucket', bucket, '--s3-role-arn', roleArn, '--s3-no-encryption'],
    environment: { GEX_S3_ACCESS_KEY, GEX_S3_SECRET_KEY },
  };
  if (cephFolder === undefined) return store;
  const { hostname, port } = new URL(endpoint);
  return {
    ...store,
    async kill(pauseMs) {
      process.kill(Number(readFileSync(path.join(cephFolder, 'run/client.rgw.a.pid'), 'utf8')), 'SIGKILL');
      await sleep(pauseMs);
      await run('radosgw', ['-c', path.join(cephFolder, 'ceph.conf'), '-n', 'client.rgw.a']);
      while (!(await listens(hostname, Number(port)))) await sleep(200);
    },
  };
}

async function listens(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
