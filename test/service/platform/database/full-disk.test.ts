import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { open, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bytesBody, StorageClient, type Job } from '../../../../src/storage/client/index.ts';
import { isOnPostgres } from '../../database.ts';
import { ask, share, type Shared } from './shared.ts';

/* The database is in a tablespace of its own, on a small disk; what the server itself needs is elsewhere. */

const MEGABYTE = 1024 * 1024;
const DISK = 40 * MEGABYTE;
const CONFIG = 'components/ex-generic-v2/configs/shop';

const disk = isOnPostgres ? makeDisk() : undefined;
const NEEDS = 'needs root that may mount, and a server of PostgreSQL on this machine';

describe.runIf(isOnPostgres)(`a full disk under PostgreSQL${disk === undefined ? ` (${NEEDS})` : ''}`, () => {
  const run = test.runIf(disk !== undefined);
  let shared: Shared;
  let url = '';
  let token = '';
  let tablespace = '';
  beforeEach(async () => {
    if (disk === undefined) return;
    shared = await share();
    const database = new URL(shared.options.database?.url ?? '').pathname.slice(1);
    tablespace = `small_${database}`;
    await asAdmin(`create tablespace ${tablespace} location '${join(disk, 'database')}'`);
    await asAdmin(`alter database ${database} set tablespace ${tablespace}`);
    const { addresses } = await shared.start();
    ({ url, masterToken: token = '' } = addresses);
  });
  afterEach(async () => {
    if (disk === undefined) return;
    await free(disk);
    await shared.stop();
    await asAdmin(`drop tablespace ${tablespace}`);
    execFileSync('umount', [disk]);
    await rmdir(disk);
  });

  run('is told of, loses nothing, and is worked over again when there is room', async () => {
    const client = new StorageClient({ url, token });
    await client.buckets.create({ name: 'main', stage: 'in' });
    await client.tables.define('in.c-main', { name: 'rows', columns: ['id', 'text'] });
    const rows = Array.from({ length: 20_000 }, (_, n) => `${n},${'x'.repeat(150)}\n`).join('');
    const { id } = await client.files.upload(bytesBody(Buffer.from(`id,text\n${rows}`)), {
      name: 'rows.csv',
    });
    const { version } = await ask(url, token, 'POST', 'components/ex-generic-v2/configs', {
      name: 'Shop',
      configurationId: 'shop',
    }).then(({ body }) => body as { version: number });

    // Room for the question, and not for the rows.
    await fill(disk ?? '', MEGABYTE);
    const job = await client.tables.startLoad('in.c-main.rows', { dataFileId: id });
    await expect.poll(async () => await attemptsOf(job)).toBeGreaterThan(0);
    await fill(disk ?? '', 0);
    let last = version;
    const refused = await eventually(async () => {
      const answer = await change(last + 1);
      if (answer.status === 200) last = (answer.body as { version: number }).version;
      return answer.status === 200 ? undefined : answer;
    });
    expect(refused).toMatchObject({
      status: 507,
      body: {
        code: 'storage.diskFull',
        error: 'The disk of the database is full; nothing was changed. Free some space and try again.',
      },
    });
    expect((await ask(url, token, 'GET', CONFIG)).body).toMatchObject({ version: last });

    await free(disk ?? '');
    expect((await change(last + 1)).body).toMatchObject({ version: last + 1 });
    await client.jobs.wait(job);
    expect(await client.tables.detail('in.c-main.rows')).toMatchObject({ rowsCount: 20_000 });
    client.close();
  });

  const change = async (n: number) =>
    await ask(url, token, 'PUT', CONFIG, { configuration: { n, text: noise(20_000) } });

  /** How often an import was tried and put back. */
  async function attemptsOf({ id }: Job): Promise<number> {
    const client = new Client({ connectionString: shared.options.database?.url });
    await client.connect();
    const { rows } = await client.query<{ retries: string }>('select retries from gex.jobs where id = $1', [
      id,
    ]);
    await client.end();
    return Number(rows[0]?.retries ?? 0);
  }
});

/** Repeats an attempt until it gives a result. */
async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let i = 0; i < 1000; i++) {
    const found = await attempt();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** It takes as much room as it is long. */
const noise = (length: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(length))).toString('base64');

/** A disk of its own, which the server may write to; undefined where none can be made. */
function makeDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'ignore' });
    chmodSync(folder, 0o755);
    execFileSync('install', ['-d', '-o', 'postgres', '-m', '700', join(folder, 'database')], {
      stdio: 'ignore',
    });
    return folder;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    console.warn(`A full disk under PostgreSQL is not tested: it ${NEEDS}.`);
    return undefined;
  }
}

/** Leaves so many bytes of a disk. */
async function fill(folder: string, left: number): Promise<void> {
  const ballast = await open(join(folder, 'ballast'), 'a');
  try {
    for (;;) await ballast.writeFile(Buffer.alloc(64 * 1024));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    const { size } = await ballast.stat();
    await ballast.truncate(Math.max(0, size - left));
  } finally {
    await ballast.close();
  }
}

async function free(folder: string): Promise<void> {
  await rm(join(folder, 'ballast'), { force: true });
}

async function asAdmin(text: string): Promise<void> {
  const admin = new Client({ connectionString: process.env['TEST_DATABASE_URL'] });
  await admin.connect();
  await admin.query(text);
  await admin.end();
}
