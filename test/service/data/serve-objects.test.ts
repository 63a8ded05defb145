// @module-tag thorough
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesBody, StorageClient } from '../../../src/storage/client/index.ts';
import { answerAssumeRole, ROLE } from '../stores/objects/assume-role.ts';
import { listen, startEmbedded, type Embedded } from '../stores/objects/support.ts';
import { MAIN } from '../../support/command.ts';

const PORTS = ['--port', '0', '--importer-port', '0'];

let dir: string;
let outside: Embedded;
let sts: Server;
let stsUrl: string;
let keys: Record<string, string>;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'serve-objects-'));
  outside = await startEmbedded();
  sts = createServer((request, response) => {
    void answerAssumeRole(outside.store, request).then(
      (xml) => response.end(xml),
      // As Ceph does for a role that it does not know.
      () => response.writeHead(404).end(),
    );
  });
  stsUrl = await listen(sts);
  const { accessKeyId, secretAccessKey } = outside.store.keys.service;
  keys = { GEX_S3_ACCESS_KEY: accessKeyId, GEX_S3_SECRET_KEY: secretAccessKey };
});
afterAll(async () => {
  sts.closeAllConnections();
  sts.close();
  await outside.close();
  await rm(dir, { recursive: true, force: true });
});

function storeArgs(bucket = outside.store.bucket, role = ROLE): string[] {
  return ['--s3', outside.endpoint, '--s3-sts', stsUrl, '--s3-bucket', bucket, '--s3-role-arn', role];
}

interface Started {
  readonly child: ChildProcess;
  readonly printed: Readonly<Record<string, string>>;
}

async function start(folder: string, ...args: string[]): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--dir', folder, ...PORTS, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...keys },
  });
  const printed: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    printed[name] = value;
    if (name === 'token') break;
  }
  return { child, printed };
}

/** Returns the stderr of the command when it refuses to start. */
async function refusal(args: readonly string[], environment: Record<string, string>): Promise<string> {
  const folder = join(dir, 'refused');
  const run = promisify(execFile)(process.execPath, [MAIN, 'serve', '--dir', folder, ...PORTS, ...args], {
    env: { ...process.env, ...environment },
  });
  const failed = await run.then(
    () => undefined,
    // The error of `execFile` carries what was written.
    (error: unknown) => error as { code: number; stderr: string },
  );
  expect(failed?.code).toBe(1);
  return failed?.stderr ?? '';
}

test('files, a table and its export are kept in the object store that is named', async () => {
  const { child, printed } = await start(join(dir, 'storage'), ...storeArgs(), '--s3-no-encryption');
  expect(printed).not.toHaveProperty('s3');
  const storage = new StorageClient({ url: printed['api'] ?? '', token: printed['token'] ?? '' });
  const file = await storage.files.upload(bytesBody('id,name\n1,Ann\n2,Bo\n'), { name: 'users.csv' });
  const bucket = await storage.buckets.create({ name: 'main' });
  const table = await storage.tables.create(bucket.id, { name: 'users', dataFileId: file.id });
  expect(await text(await storage.tables.read(table.id))).toBe('"id","name"\n"1","Ann"\n"2","Bo"\n');

  const sizes: number[] = [];
  for await (const { bytes } of outside.store.list('')) sizes.push(bytes);
  expect(sizes).toContain('id,name\n1,Ann\n2,Bo\n'.length);
  await storage.files.delete(file.id);
  const left: number[] = [];
  for await (const { bytes } of outside.store.list('')) left.push(bytes);
  expect(left).toHaveLength(sizes.length - 1);

  const own = await storage.files.prepare({ name: 'x', isEncrypted: true });
  expect(own.isEncrypted).toBe(false);

  storage.close();
  const asked = performance.now();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  // Without a running job there is nothing to wait for.
  expect(performance.now() - asked).toBeLessThan(5000);
});

test('what is missing or does not fit is said at the start, with a way out', async () => {
  const said = await Promise.all([
    refusal(['--s3-bucket', 'files'], keys),
    refusal(['--s3', outside.endpoint], keys),
    refusal(storeArgs(), { GEX_S3_ACCESS_KEY: 'key', GEX_S3_SECRET_KEY: '' }),
  ]);
  expect(said[0]).toContain('Add --s3 URL');
  expect(said[1]).toContain('--s3 needs --s3-bucket as well');
  expect(said[2]).toContain('the environment variable GEX_S3_SECRET_KEY');
});

test('a bucket or a role that is not there, or a key that is not known, ends the start', async () => {
  const wrong = 'a-key-that-nobody-gave';
  const [missing, unknown, noRole] = await Promise.all([
    refusal(storeArgs('nothing-here'), keys),
    refusal(storeArgs(), { ...keys, GEX_S3_SECRET_KEY: wrong }),
    refusal(storeArgs(undefined, 'arn:aws:iam:::role/nobody'), keys),
  ]);
  expect(missing).toMatch(/The bucket “nothing-here” .* \(NoSuchBucket\)/);
  expect(unknown).toContain('(SignatureDoesNotMatch)');
  expect(unknown).not.toContain(wrong);
  expect(noRole).toContain('The role “arn:aws:iam:::role/nobody” is not there');
  expect(noRole).toContain('--s3-role-arn');
});
