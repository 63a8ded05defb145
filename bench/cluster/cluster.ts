import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND } from '../support/processes.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import type { Store } from './engines.ts';

export type Role = 'api' | 'runner' | 'worker';

/** One process of the service. */
export interface Node {
  readonly name: string;
  readonly role: Role;
  /** Id of the current process. */
  readonly pid: number;
  /** From the start of the process to its first sign of being up. */
  readonly startMs: number;
  /** Address of its API, or of its probes. */
  readonly address: string | undefined;
}

export interface Cluster {
  /** Address of the proxy before the processes of the API. */
  readonly url: string;
  readonly token: string;
  readonly nodes: readonly Node[];
  /** Kills the process and puts a new one in its place after so many milliseconds. */
  replace(node: Node, options: { readonly signal: NodeJS.Signals; readonly pauseMs: number }): Promise<Node>;
  add(role: Role): Promise<Node>;
  /** Stops one for good. */
  remove(node: Node): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly databaseUrl: string;
  readonly store: Store;
  readonly count: Readonly<Record<Role, number>>;
  /** Further arguments of every process. */
  readonly args?: readonly string[];
  /** A key of 32 bytes, in base64. */
  readonly encryptionKey: string;
}

/** Starts `gex serve` several times over one database and one object store, behind a proxy. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const balancer = await startBalancer();
  const nodes: Running[] = [];
  let token = '';
  let added = Object.values(options.count).reduce((sum, count) => sum + count, 0);
  const begin = async (name: string, role: Role): Promise<Running> => {
    const node = await startNode(name, role, balancer, options);
    token ||= node.token ?? '';
    return node;
  };
  const balance = (): void => {
    balancer.targets = nodes.flatMap(({ role, address }) =>
      role === 'api' && address !== undefined ? [new URL(address).host] : [],
    );
  };
  for (const role of ['api', 'worker', 'runner'] as const)
    for (let i = 1; i <= options.count[role]; i++) {
      nodes.push(await begin(`${role}-${i}`, role));
      balance();
    }
  return {
    url: balancer.url,
    token,
    nodes,
    async replace(node, { signal, pauseMs }) {
      const at = nodes.findIndex(({ name }) => name === node.name);
      const old = nodes[at];
      if (old === undefined) throw new Error(`there is no ${node.name}`);
      old.child.kill(signal);
      if (old.child.exitCode === null && old.child.signalCode === null) await once(old.child, 'exit');
      await sleep(pauseMs);
      const fresh = await begin(old.name, old.role);
      nodes[at] = fresh;
      balance();
      return fresh;
    },
    async add(role) {
      const node = await begin(`${role}-${++added}`, role);
      nodes.push(node);
      balance();
      return node;
    },
    async remove({ pid }) {
      const at = nodes.findIndex((node) => node.pid === pid);
      for (const { child } of at === -1 ? [] : nodes.splice(at, 1)) await ended(child);
      balance();
    },
    async stop() {
      await Promise.all(nodes.map(async ({ child }) => await ended(child)));
      await balancer.stop();
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface Running extends Node {
  readonly child: ChildProcess;
  readonly token: string | undefined;
}

async function startNode(
  name: string,
  role: Role,
  balancer: Balancer,
  { databaseUrl, store, args = [], encryptionKey }: ClusterOptions,
): Promise<Running> {
  const begun = performance.now();
  const ports = role === 'api' ? ['--port', '0', '--importer-port', '0'] : ['--health-port', '0'];
  const child = spawn(
    process.execPath,
    [COMMAND, 'serve', '--role', role, ...ports, ...store.args, '--public-url', balancer.url, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...store.environment,
        GEX_DATABASE_URL: databaseUrl,
        GEX_ENCRYPTION_KEY: encryptionKey,
      },
    },
  );
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    if (said.length > 200) said.shift();
    if (process.env['CLUSTER_LOG'] === '1') console.error(`${name}: ${line}`);
  });
  child.once('exit', (code, signal) => {
    if (process.env['CLUSTER_LOG'] === '1') console.error(`${name}: ended with ${signal ?? code}`);
  });
  const seen = new Map<string, string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, value = ''] = line.split(/\s+/);
    if (what !== undefined) seen.set(what, value);
  });
  const addressSeen = (): string | undefined => seen.get('api') ?? seen.get('health');
  while (addressSeen() === undefined && child.exitCode === null) await sleep(20);
  const address = addressSeen();
  const isUp = address !== undefined && (await isReady(address));
  if (!isUp) throw new Error(`${name} did not start:\n${said.join('\n')}`);
  const startMs = performance.now() - begun;
  return { name, role, pid: child.pid ?? 0, startMs, address, child, token: seen.get('token') };
}

async function isReady(address: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    const response = await fetch(`${address}/ready`).catch(() => undefined);
    if (response?.ok === true) return true;
    await sleep(50);
  }
  return false;
}

/** The peak of resident memory of a process, in MB (`VmHWM`); undefined for one that has ended by itself. */
export function peakMb({ pid }: Node): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const kb = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1];
  return Number(kb) / 1024;
}
