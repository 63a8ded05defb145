import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runnerPart } from '../../../../src/service/start/runner.ts';
import { bytesBody, StorageClient } from '../../../../src/storage/client/index.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { json, startApi } from '../../../cli/support.ts';
import { MAIN } from '../../../support/command.ts';
import { books, worldOf, type World } from '../../domain/runs/support.ts';
import { isOnPostgres } from '../../database.ts';
import { request } from '../../harness.ts';
import { asAdmin, hasPrograms, startPair, type Pair } from './pair.ts';
import { freePort } from '../../stores/tables/postgres/bouncer.ts';
import { proxyTo, type Proxy } from './proxy.ts';
import { share, type Shared } from './shared.ts';

const RUNS = { command: [process.execPath, MAIN], concurrency: 1, pollMs: 100, checkMs: 200 } as const;
const CONFIG = 'components/ex-generic-v2/configs/shop';
const PAGES = 30;
/** The page that is answered when the primary is gone. */
const HELD = 10;
const NEEDS = 'needs the programs of PostgreSQL on this machine';

describe.runIf(isOnPostgres)(`a synchronous standby${hasPrograms ? '' : ` (${NEEDS})`}`, () => {
  const run = test.runIf(hasPrograms);
  let pair: Pair;
  let door: Proxy;
  let shared: Shared;
  /** Two processes as on two machines; each is asked. */
  let worlds: readonly World[];
  beforeEach(async () => {
    if (!hasPrograms) return;
    pair = await startPair();
    door = await proxyTo(pair.primary);
    shared = await share({ url: door.url, poolSize: 6 });
    const parts = [dataPart, runnerPart(RUNS)];
    const first = await shared.start({ parts });
    const second = await shared.start({ parts });
    const token = first.addresses.masterToken ?? '';
    worlds = [first, second].map(({ addresses }) =>
      worldOf({
        dir: '',
        token,
        addresses,
        call: async (method, path, body, headers = {}) =>
          await request(addresses.url, token, method, path, body, headers),
      }),
    );
  });
  afterEach(async () => {
    if (!hasPrograms) return;
    await shared.stop();
    await door.cut();
    pair.remove();
  });

  run('that takes over loses nothing that was acknowledged, and does nothing twice', async () => {
    const [one, other] = worlds;
    if (one === undefined || other === undefined) throw new Error('There are two processes.');
    const { token } = one;
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi(({ url: { searchParams } }, response) => {
      const page = Number(searchParams.get('page'));
      const answer = (): void => json(response, page <= PAGES ? [{ id: page }] : []);
      if (page === HELD) void gate.then(answer);
      else setTimeout(answer, 50);
    });
    const clients = worlds.map(({ addresses }) => new StorageClient({ url: addresses.url, token }));
    onTestFinished(() => clients.forEach((client) => client.close()));
    const [client] = clients;
    await client?.buckets.create({ name: 'main', stage: 'in' });
    // Without a key a load that is done twice leaves its row twice.
    for (const name of ['t0', 't1']) await client?.tables.define('in.c-main', { name, columns: ['id'] });
    await one.configure('shop', {});
    const paged = books(api.url) as { parameters: { api: object } }; // as it is made there
    Object.assign(paged.parameters.api, { pagination: { method: 'pagenum', firstPage: 1 } });
    await one.configure('books', paged);

    const over = new AbortController();
    const versions: number[] = [];
    const change = async (name: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n++) {
        const body = { configuration: { name, n } };
        const send = async () =>
          await (name % 2 === 0 ? one : other).call('PUT', CONFIG, body, {
            'Idempotency-Key': `${name}-${n}`,
          });
        let answer = await send();
        for (; answer.status === 503; answer = await send()) await sleep(50);
        expect(answer.status).toBe(200);
        versions.push((answer.body as { version: number }).version);
      }
    };
    const rows: readonly string[][] = [[], []];
    const load = async (name: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n++) {
        const bytes = bytesBody(Buffer.from(`id\n${name}-${n}\n`));
        const file = await clients[name]?.files.upload(bytes, { name: 'rows.csv' });
        const more = { dataFileId: file?.id ?? 0, incremental: true };
        await clients[name]?.tables.load(`in.c-main.t${name}`, more);
        rows[name]?.push(`"${name}-${n}"`);
      }
    };
    const work = Promise.all([change(0), change(1), change(2), load(0), load(1)]);
    const goOn = async (): Promise<void> => {
      const before = [versions, ...rows].map((list) => [list, list.length] as const);
      await expect.poll(() => before.every(([list, length]) => list.length >= length + 2)).toBe(true);
    };
    const { id } = await other.start('books');
    await expect.poll(() => api.seen.length).toBe(HELD);
    await goOn();

    // Changes acknowledged without the standby from here on would be lost.
    pair.stopStandby();
    await sleep(500);
    pair.killPrimary();
    letGo();
    pair.startStandby();
    pair.promote();
    door.leadTo(pair.standby);

    await goOn();
    over.abort();
    await work;
    const all = (await one.call('GET', `${CONFIG}/versions?limit=5000`)).body as { version: number }[];
    // The first version is that of who made it; every other is of one change.
    const every = Array.from({ length: versions.length + 1 }, (_, n) => n + 1);
    expect(all.map(({ version }) => version).toReversed()).toEqual(every);
    expect([1, ...versions.toSorted((a, b) => a - b)]).toEqual(every);
    for (const [name, expected] of rows.entries())
      expect(await one.rows(`in.c-main.t${name}`)).toEqual(expected.toSorted());
    expect(await one.ended(id)).toMatchObject({ status: 'success', attempt: 1 });
    const ids = Array.from({ length: PAGES }, (_, n) => `"${n + 1}"`);
    expect(await one.rows('in.c-library.books')).toEqual(ids.toSorted());
    expect(api.seen).toHaveLength(PAGES + 1);
  });
});

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find(
  (program) => spawnSync(program, ['-v']).status === 0,
);
const DOOR_NEEDS = 'needs haproxy and the programs of PostgreSQL on this machine';
const hasDoor = hasPrograms && HAPROXY !== undefined;

describe.runIf(isOnPostgres)(`the door of the guide${hasDoor ? '' : ` (${DOOR_NEEDS})`}`, () => {
  test.runIf(hasDoor)('leads to the server that takes changes', async () => {
    const pair = await startPair();
    onTestFinished(() => pair.remove());
    const folder = await mkdtemp(path.join(tmpdir(), 'door-'));
    onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
    const guide = await readFile(new URL('../../../../docs/several-machines.md', import.meta.url), 'utf8');
    const example = (start: RegExp): string => start.exec(guide)?.[1] ?? '';
    const check = path.join(folder, 'is-writable');
    const port = await freePort();
    const settings = example(/```haproxy\n(.*?)```/s)
      .replace('0.0.0.0:5432', `127.0.0.1:${port}`)
      .replace('10.0.0.1:5432', new URL(pair.primary).host)
      .replace('10.0.0.2:5432', new URL(pair.standby).host)
      .replace('/etc/haproxy/is-writable', check);
    const script = example(/```sh\n(#!\/bin\/sh\ntest .*?)```/s).replace('dbname=gex', 'dbname=postgres');
    await writeFile(path.join(folder, 'haproxy.cfg'), settings);
    await writeFile(check, script, { mode: 0o755 });
    const haproxy = spawn(HAPROXY ?? '', ['-db', '-f', path.join(folder, 'haproxy.cfg')], {
      stdio: 'ignore',
    });
    onTestFinished(() => void haproxy.kill('SIGKILL'));
    const leadsTo = async (): Promise<string> =>
      await asAdmin(`postgres://gex@127.0.0.1:${port}/postgres`, async (admin) => {
        const { rows } = await admin.query<{ port: string }>('show port');
        return rows[0]?.port ?? '';
      }).catch(() => '');
    const isSettled = async (): Promise<boolean> =>
      (await Promise.all(Array.from({ length: 6 }, leadsTo))).every(
        (at) => at === new URL(pair.primary).port,
      );
    await expect.poll(isSettled).toBe(true);
    pair.killPrimary();
    pair.promote();
    await expect.poll(leadsTo).toBe(new URL(pair.standby).port);
  });
});
