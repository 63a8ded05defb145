import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { encodeExact, objectOf, type AnyObject, type Json } from '../../../../src/lib/json/index.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { openJournal, startJournal } from '../../../../src/runner/mapping/journal.ts';
import { pushOutputs } from '../../../../src/runner/mapping/output/push.ts';
import { bytesBody, StorageClient, StorageError } from '../../../../src/storage/client/index.ts';
import { createService } from '../../../../src/service/start/service.ts';
import { startRoughProxy, type Deed, type RoughProxy } from './rough-proxy.ts';

export interface RoughRounds {
  readonly pushes: number;
  readonly seed: number;
  /** True when the service knows `Idempotency-Key`. */
  readonly withKeys: boolean;
  /** Restores the service from an earlier copy in the middle of each push; another client gets the same ids. */
  readonly withRestore: boolean;
  /** A service of several processes; without it one over a folder, in this process. */
  readonly service?: ServiceOfSeveral;
  /** Pushes that go on beside each other; one by default. */
  readonly atOnce?: number;
}

export interface ServiceOfSeveral {
  /** The addresses of its API, each of another process. */
  readonly urls: readonly [string, ...string[]];
  readonly token: string;
}

export interface RoughResult {
  readonly rows: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly foreign: readonly string[];
  /** Pushes that were cut short and gone on with by another process. */
  readonly continued: number;
  readonly deeds: Readonly<Record<Deed, number>>;
}

const TABLES = 3;
const ROWS = 5;
/** Waits are a hundredth of what they are, so that what is held for less than a look is still late. */
const HASTE = 100;
const LATE_MS = 150;

/**
 * Pushes into tables without a key, and updates of a configuration, through a proxy that is rough; counts what is lost and
 * doubled.
 */
export async function roughPushes(rounds: RoughRounds): Promise<RoughResult> {
  const { pushes, seed, withKeys, withRestore, atOnce = 1 } = rounds;
  const folder = mkdtempSync(path.join(tmpdir(), 'rough-'));
  const chance = chanceFrom(seed);
  const proxy = await startRoughProxy({ chance, lateMs: LATE_MS, withKeys });
  const place = rounds.service === undefined ? await startPlace(folder, proxy) : aimAt(rounds.service, proxy);
  const world: World = { proxy, token: place.token, chance, folder, versions: new Map() };
  let continued = 0;
  let taken = 0;
  try {
    await createCounted(world);
    const pushFully = async (push: number): Promise<void> => {
      const out = writeOutput(world, push);
      if (withRestore) await place.restart('copy');
      proxy.roughen(withRestore ? 0 : 40);
      let isPushed = await pushOnce(world, out, withRestore || chance() < 0.5 ? 1 + chance() * 9 : undefined);
      if (withRestore && !isPushed) {
        await place.restart('restore');
        await takeIds(world, taken++);
      }
      if (!isPushed) continued++;
      for (let tries = 0; !isPushed; tries++) {
        if (tries === 50) throw new Error(`Push ${push} does not come to its end.`);
        proxy.roughen(withRestore || tries > 20 ? 0 : 40);
        isPushed = await pushOnce(world, out, undefined);
      }
      // A restore takes back what was acknowledged.
      if (!withRestore) await updateCounted(world, push);
    };
    let next = 0;
    const pushAll = async (): Promise<void> => {
      while (next < pushes) await pushFully(next++);
    };
    await Promise.all(Array.from({ length: atOnce }, pushAll));
    await proxy.settled();
    proxy.roughen(0);
    const client = clientOf(world);
    await idle(client);
    const versions = await countVersions(client, world);
    const rows = await count(client, pushes);
    client.close();
    const [lost, doubled] = [
      [...rows.lost, ...versions.lost],
      [...rows.doubled, ...versions.doubled],
    ];
    return { ...rows, lost, doubled, continued, deeds: proxy.deeds };
  } finally {
    await proxy.stop();
    await place.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Target of pushes. */
interface Place {
  readonly token: string;
  /** Starts the service again, with its folder copied, or as the copy was. */
  restart(how: 'copy' | 'restore'): Promise<void>;
  stop(): Promise<void>;
}

async function startPlace(folder: string, proxy: RoughProxy): Promise<Place> {
  const dir = path.join(folder, 'storage');
  const copy = path.join(folder, 'copy');
  let service = createService({ dir });
  const { url, masterToken = '' } = await service.start();
  proxy.aim(url);
  return {
    token: masterToken,
    async restart(how) {
      const [from, to] = how === 'copy' ? [dir, copy] : [copy, dir];
      await proxy.settled();
      await service.stop();
      rmSync(to, { recursive: true, force: true });
      cpSync(from, to, { recursive: true });
      service = createService({ dir });
      proxy.aim((await service.start()).url);
    },
    stop: async () => await service.stop(),
  };
}

function aimAt({ urls, token }: ServiceOfSeveral, proxy: RoughProxy): Place {
  proxy.aim(...urls);
  return {
    token,
    restart: () => Promise.reject(new Error('What several processes serve is not restored.')),
    stop: async () => {},
  };
}

const COMPONENT = 'ex-generic-v2';
const COUNTED = 'counted';

async function createCounted(world: World): Promise<void> {
  const client = clientOf(world);
  await client.configurations(COMPONENT).create({ name: 'Counted', configurationId: COUNTED });
  client.close();
}

/** Updates the configuration, without a word when it cannot be known whether it was done. */
async function updateCounted(world: World, n: number): Promise<void> {
  const client = clientOf(world);
  try {
    const configuration = objectOf([['n', n]]);
    const { version } = await client.configurations(COMPONENT).update(COUNTED, { configuration });
    world.versions.set(n, version);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  } finally {
    client.close();
  }
}

/** Counts acknowledged updates without their version, and updates that were done twice. */
async function countVersions(
  client: StorageClient,
  { versions }: World,
): Promise<Pick<RoughResult, 'doubled' | 'lost'>> {
  const configurations = client.configurations(COMPONENT);
  const found = new Map<number, number[]>();
  for (const { version } of await configurations.versions(COUNTED, { limit: 100_000 })) {
    const { configuration } = await configurations.version(COUNTED, version);
    const n = /"n":(\d+)/.exec(encodeExact(configuration as Json))?.[1]; // the client decodes it so
    if (n !== undefined) found.set(Number(n), [...(found.get(Number(n)) ?? []), version]);
  }
  return {
    lost: [...versions].filter(([n, at]) => found.get(n)?.includes(at) !== true).map(([n]) => `update ${n}`),
    doubled: [...found].filter(([, all]) => all.length > 1).map(([n]) => `update ${n}`),
  };
}

interface World {
  readonly proxy: RoughProxy;
  readonly token: string;
  readonly chance: () => number;
  readonly folder: string;
  /** Acknowledged updates of the configuration: the version by the number that was written. */
  readonly versions: Map<number, number>;
}

function writeOutput({ folder }: World, push: number): string {
  const out = path.join(folder, `out${push}`);
  mkdirSync(path.join(out, 'tables'), { recursive: true });
  const rows = Array.from({ length: ROWS }, (_, row) => `${idOf(push, row)}\n`);
  writeFileSync(path.join(out, 'tables', 't'), `id\n${rows.join('')}`);
  startJournal(out, { id: `rough-${push}`, target: { project: '1@now', address: 'rough' }, origin: ORIGIN });
  return out;
}

const ORIGIN = { component: 'ex', configuration: '1', isStored: false };
const idOf = (push: number, row: number): string => `p${push}r${row}`;

/** One process: it ends as if killed after so many requests. @returns whether all is pushed */
async function pushOnce(world: World, out: string, requests: number | undefined): Promise<boolean> {
  const kill = new AbortController();
  let count = 0;
  const limited: typeof fetch = async (...given) => {
    if (requests !== undefined && ++count > requests) kill.abort(new Error('killed'));
    kill.signal.throwIfAborted();
    return await fetch(...given);
  };
  const client = clientOf(world, { fetch: limited, signal: kill.signal });
  const push = Number(path.basename(out).slice('out'.length));
  const mapping: unknown = {
    tables: [{ source: 't', destination: `in.c-rough.t${push % TABLES}`, incremental: true }],
  };
  const journal = openJournal(out);
  if (journal === undefined) throw new Error('There is no journal.');
  try {
    await pushOutputs({
      connection: { client, address: 'rough', project: '1@now', isLocal: false },
      origin: ORIGIN,
      mapping: mapping as AnyObject,
      env: hastyEnv,
      log: silentLog,
      signal: kill.signal,
      out,
      journal,
    });
    journal.finish();
    return true;
  } catch {
    return false; // the next process goes on
  } finally {
    client.close();
  }
}

/** Another client, who gets the ids that were given before the restore. */
async function takeIds(world: World, turn: number): Promise<void> {
  const client = clientOf(world);
  const bucket = 'in.c-foreign';
  if ((await client.buckets.find(bucket)) === undefined) await client.buckets.create({ name: 'foreign' });
  for (let i = 0; i < 6; i++) {
    const name = `other${turn}x${i}`;
    const file = await client.files.upload(bytesBody(`id\nforeign${turn}x${i}\n`), { name: 't.csv' });
    await client.tables.create(bucket, { name, dataFileId: file.id });
    if (world.chance() < 0.5) await client.ticket();
  }
  client.close();
}

const hastyEnv: Env = {
  ...systemEnv,
  sleep: async (waitMs, signal) => await systemEnv.sleep(waitMs / HASTE, signal),
};

function clientOf({ proxy, token }: World, options: { fetch?: typeof fetch; signal?: AbortSignal } = {}) {
  return new StorageClient({ url: proxy.url, token, env: hastyEnv, ...options });
}

async function idle(client: StorageClient): Promise<void> {
  const busy = { storage_job_status: ['waiting', 'processing'] };
  while ((await client.jobs.list(busy)).length > 0) await systemEnv.sleep(20);
}

async function count(
  client: StorageClient,
  pushes: number,
): Promise<Pick<RoughResult, 'doubled' | 'foreign' | 'lost' | 'rows'>> {
  const seen = new Map<string, number>();
  for (let table = 0; table < Math.min(TABLES, pushes); table++) {
    let text = '';
    for await (const piece of await client.tables.read(`in.c-rough.t${table}`)) text += String(piece);
    for (const id of text.replaceAll('"', '').split('\n').slice(1))
      if (id !== '') seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  const wanted = new Set(
    Array.from({ length: pushes * ROWS }, (_, i) => idOf(Math.floor(i / ROWS), i % ROWS)),
  );
  return {
    rows: wanted.size,
    lost: [...wanted].filter((id) => !seen.has(id)),
    doubled: [...seen].filter(([, times]) => times > 1).map(([id]) => id),
    foreign: [...seen.keys()].filter((id) => !wanted.has(id)),
  };
}

/** The same numbers for the same seed (mulberry32). */
function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
