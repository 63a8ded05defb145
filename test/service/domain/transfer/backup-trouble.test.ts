import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGex } from '../../../cli/support.ts';
import { createS3Server } from '../../../../src/service/stores/objects/s3/server.ts';
import { clientOf } from '../../data/client.ts';
import type { Running } from '../../harness.ts';
import { listen } from '../../stores/objects/support.ts';
import { BOUNCER, freePort, startBouncer } from '../../stores/tables/postgres/bouncer.ts';
import { SERVER } from '../../stores/tables/postgres/database.ts';
import { createPlaces, type Place } from './places.ts';

const KEY = Buffer.alloc(32, 5).toString('base64');
const POSTGRES = fileURLToPath(new URL('../../../../scripts/postgres.sh', import.meta.url));

describe.runIf(SERVER !== undefined)('a backup of a database', () => {
  const places = createPlaces();
  let work: string;
  let source: Place;
  let api: Running;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'backup-trouble-'));
    source = await places.make();
    api = await places.serve(source, KEY);
    await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
    const rows = Array.from({ length: 2000 }, (_, i) => `${i},${randomBytes(800).toString('hex')}\n`);
    const dataString = `id,v\n${rows.join('')}`;
    await api.call('POST', 'buckets/in.c-main/tables', { name: 'large', dataString });
    for (const changedSince of ['2001-01-01', '2002-01-01', '2003-01-01'])
      await clientOf(api).run('POST', 'tables/in.c-main.large/export-async', { changedSince });
  });
  afterAll(async () => {
    await api.stop();
    await places.drop();
    await rm(work, { recursive: true, force: true });
  });

  const backUp = async (place: Place, tar: string) =>
    await places.gex('backup', tar, ...places.named('from', place));
  const over = (url: string): Place => ({ ...source, database: { ...source.database, url } });

  // Metadata, tables, objects, and the end of the tar file find no room.
  test.runIf(process.getuid?.() === 0).each([300, 3000, 8000, 12_000])(
    'into a full disk of %d KB says so and leaves nothing (only root can mount a small one)',
    async (size) => {
      const folder = join(work, `disk-${size}`);
      await mkdir(folder);
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', folder]).status).toBe(0);
      onTestFinished(() => void spawnSync('umount', ['-l', folder]));
      const { code, stderr } = await backUp(source, join(folder, 'full.tar'));
      expect(stderr).toContain('full.tar” could not be written: the disk is full.');
      expect(stderr).toContain('Free some space, and give the same command again: it begins anew.');
      expect(code).toBe(1);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test.runIf(BOUNCER !== undefined)(
    'goes through pgbouncer, which gives a connection for a transaction',
    async () => {
      const bouncer = await startBouncer(source.database);
      const { code, stderr } = await backUp(over(bouncer.url), join(work, 'bouncer.tar'));
      await bouncer.stop();
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('1 table with 2,000 rows');
    },
  );

  test('is made by a user who may read everything, and is refused to others', async () => {
    const { pool, url } = source.database;
    const as = async (name: string, grant = ''): Promise<Place> => {
      const role = `${new URL(url).pathname.slice(1)}_${name}`;
      await pool.query(`CREATE ROLE ${role} LOGIN; ${grant === '' ? '' : `GRANT ${grant} TO ${role}`}`);
      return over(Object.assign(new URL(url), { username: role }).href);
    };
    for (const grants of [[], ['USAGE ON SCHEMA gex', 'SELECT ON ALL TABLES IN SCHEMA gex']]) {
      const place = await as(`has_${grants.length}`);
      for (const grant of grants)
        await pool.query(`GRANT ${grant} TO ${new URL(place.database.url).username}`);
      const { code, stderr } = await backUp(place, join(work, 'refused.tar'));
      expect(stderr).toContain('The user may not read all of the database: permission denied');
      expect(stderr).toContain('GRANT pg_read_all_data TO');
      expect(code).toBe(1);
    }
    expect((await readdir(work)).filter((name) => name.startsWith('refused'))).toEqual([]);
    const { code, stderr } = await backUp(await as('reader', 'pg_read_all_data'), join(work, 'reader.tar'));
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('1 table with 2,000 rows');
  });

  test('that is frozen lets go of what it has locked', async () => {
    const { database } = source;
    const child = startGex(['storage', 'backup', join(work, 'frozen.tar'), ...places.named('from', source)], {
      env: { ...process.env, ...places.keys() },
    });
    onTestFinished(() => child.kill('SIGKILL'));
    const holders = async (): Promise<number> =>
      (
        await database.pool.query(
          `select distinct l.pid from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
           where l.mode = 'AccessShareLock' and n.nspname = 'gex' and c.relname = 'runs'
             and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())`,
        )
      ).rowCount ?? 0;
    while ((await holders()) === 0) await new Promise((next) => setTimeout(next, 2));
    child.kill('SIGSTOP');
    expect(await holders()).toBe(1);
    await expect.poll(holders, { timeout: 120_000, interval: 1000 }).toBe(0);
    child.kill('SIGCONT');
    const { code, stderr } = await child.ended;
    expect(stderr).toContain('Give the same command again');
    expect(code).toBe(1);
  }, 150_000);

  test('waits for an object store that is away for a moment, and gives up on one that stays away', async () => {
    const { endpoint, away } = await startPassing(source.store.store.handler);
    const place = { ...source, store: { ...source.store, endpoint } };
    away.from = 4;
    away.until = 7;
    const made = await backUp(place, join(work, 'later.tar'));
    expect(made.code, made.stderr).toBe(0);
    expect(away.turnedAway).toBe(3);

    Object.assign(away, { seen: 0, until: Infinity });
    const { code, stderr } = await backUp(place, join(work, 'never.tar'));
    expect(stderr).toContain('The object store cannot be reached.');
    expect(stderr).toContain('Give the same command again then: it begins anew.');
    expect(code).toBe(1);
    expect((await readdir(work)).filter((name) => name.startsWith('never'))).toEqual([]);
  });

  test.runIf(hasServer())(
    'of more tables than can be locked names what to set, which is enough then (only with a server of PostgreSQL on this machine)',
    async () => {
      const folder = join(work, 'server');
      const port = String(await freePort());
      const url = `postgres://gex@127.0.0.1:${port}/postgres`;
      const set = async (...settings: string[]): Promise<void> => {
        const client = new Client({ connectionString: url });
        await client.connect();
        for (const setting of settings) await client.query(setting);
        await client.end();
      };
      const settle = async (...settings: string[]): Promise<void> => {
        await set(...settings.map((setting) => `ALTER SYSTEM SET ${setting}`));
        postgres('stop', folder);
        postgres('start', folder, port);
      };
      await chmod(work, 0o755);
      postgres('start', folder, port);
      onTestFinished(() => postgres('stop', folder));
      await settle('max_locks_per_transaction = 10', 'max_connections = 20');
      const place = { ...over(url), store: (await places.make()).store };
      const service = await places.serve(place, KEY);
      await service.call('POST', 'buckets', { name: 'main', stage: 'in' });
      await service.call('POST', 'buckets/in.c-main/tables', { name: 't_0', dataString: 'id\n1\n' });
      await service.stop();
      for (let i = 1; i < TABLES; i++) await set(copyOfTable(i));

      const { code, stderr } = await backUp(place, join(work, 'many.tar'));
      expect(stderr).toMatch(/All of \d+ tables are to be locked at one moment, .* room for 200 locks/);
      expect(code).toBe(1);
      const wanted = /Set (max_locks_per_transaction = \d+) in postgresql\.conf/.exec(stderr)?.[1] ?? '';
      expect(existsSync(join(work, 'many.tar'))).toBe(false);

      await settle(wanted);
      const made = await backUp(place, join(work, 'many.tar'));
      expect(made.code, made.stderr).toBe(0);
      expect(made.stderr).toContain(`${TABLES} tables with ${TABLES} rows`);
    },
    120_000,
  );
});

const TABLES = 130;

/** As the service makes it, in a hundredth of the time. */
function copyOfTable(i: number): string {
  const [name, id] = [`t_${i}`, `in.c-main.t_${i}`];
  return [
    `CREATE TABLE gex_in_c_main.${name} (LIKE gex_in_c_main.t_0 INCLUDING ALL)`,
    `INSERT INTO gex_in_c_main.${name} SELECT * FROM gex_in_c_main.t_0`,
    `INSERT INTO gex.table_catalog SELECT ${changed({ table_name: name, relation_name: name })} FROM gex.table_catalog t WHERE table_name = 't_0'`,
    `INSERT INTO gex.tables SELECT ${changed({ id, name, display_name: name })} FROM gex.tables t WHERE id = 'in.c-main.t_0'`,
    `INSERT INTO gex.table_columns SELECT ${changed({ table_id: id })} FROM gex.table_columns t WHERE table_id = 'in.c-main.t_0'`,
  ].join('; ');
}

const changed = (object: object): string => `(jsonb_populate_record(t, '${JSON.stringify(object)}')).*`;

function postgres(...args: string[]): void {
  const { status, stderr } = spawnSync(POSTGRES, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const hasServer = (): boolean => spawnSync('sh', ['-c', 'ls /usr/lib/postgresql/*/bin/initdb']).status === 0;

/** Requests from one to another, counted from 1, are cut off. */
interface Away {
  seen: number;
  from: number;
  until: number;
  turnedAway: number;
}

/** The same object store at another address, where it can be away. */
async function startPassing(
  handler: Place['store']['store']['handler'],
): Promise<{ readonly endpoint: string; readonly away: Away }> {
  const server = createS3Server(handler);
  const away: Away = { seen: 0, from: Infinity, until: Infinity, turnedAway: 0 };
  server.prependListener('request', ({ socket }) => {
    away.seen++;
    if (away.seen < away.from || away.seen >= away.until) return;
    away.turnedAway++;
    socket.destroy();
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: await listen(server), away };
}
