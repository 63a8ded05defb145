import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv, type Env } from '../../../src/env.ts';
import type { AnyObject } from '../../../src/json/index.ts';
import { silentLog } from '../../../src/log.ts';
import { openJournal, startJournal } from '../../../src/mapping/journal.ts';
import { pushOutputs } from '../../../src/mapping/output/push.ts';
import { bytesBody, StorageClient } from '../../../src/storage/client/index.ts';
import { createService, type Service } from '../../../src/storage/server/service.ts';
import { startRoughProxy, type Deed, type RoughProxy } from './rough-proxy.ts';

export interface RoughRounds {
  readonly pushes: number;
  readonly seed: number;
  /** Whether the service knows `Idempotency-Key`. */
  readonly withKeys: boolean;
  /** Restores the service from an earlier copy in the middle of each push; another client gets the same ids. */
  readonly withRestore: boolean;
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

/** Pushes into tables without a key, through a proxy that is rough, and counts what is lost and doubled. */
export async function roughPushes({
  pushes,
  seed,
  withKeys,
  withRestore,
}: RoughRounds): Promise<RoughResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rough-'));
  const dir = path.join(folder, 'storage');
  const copy = path.join(folder, 'copy');
  const chance = chanceFrom(seed);
  const proxy = await startRoughProxy({ chance, lateMs: LATE_MS, withKeys });
  let service = createService({ dir });
  const started = await service.start();
  const token = started.masterToken ?? '';
  proxy.aim(started.url);
  const world: World = { proxy, token, chance, folder };
  let continued = 0;
  let taken = 0;
  try {
    const restart = async (between: () => void): Promise<Service> => {
      await proxy.settled();
      await service.stop();
      between();
      const next = createService({ dir });
      proxy.aim((await next.start()).url);
      return next;
    };
    for (let push = 0; push < pushes; push++) {
      const out = writeOutput(world, push);
      if (withRestore)
        service = await restart(() => {
          rmSync(copy, { recursive: true, force: true });
          cpSync(dir, copy, { recursive: true });
        });
      proxy.roughen(withRestore ? 0 : 40);
      let isPushed = await pushOnce(world, out, withRestore || chance() < 0.5 ? 1 + chance() * 9 : undefined);
      if (withRestore && !isPushed) {
        service = await restart(() => {
          rmSync(dir, { recursive: true });
          cpSync(copy, dir, { recursive: true });
        });
        await takeIds(world, taken++);
      }
      if (!isPushed) continued++;
      for (let tries = 0; !isPushed; tries++) {
        if (tries === 50) throw new Error(`Push ${push} does not come to its end.`);
        proxy.roughen(withRestore || tries > 20 ? 0 : 40);
        isPushed = await pushOnce(world, out, undefined);
      }
    }
    await proxy.settled();
    proxy.roughen(0);
    const client = clientOf(world);
    await idle(client);
    return { ...(await count(client, pushes)), continued, deeds: proxy.deeds };
  } finally {
    await proxy.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface World {
  readonly proxy: RoughProxy;
  readonly token: string;
  readonly chance: () => number;
  readonly folder: string;
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
  client.close();
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
