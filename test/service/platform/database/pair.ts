import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { freePort } from '../../stores/tables/postgres/bouncer.ts';

const SCRIPT = fileURLToPath(new URL('../../../../scripts/postgres.sh', import.meta.url));

/** A server, and a standby that has whatever the first one has acknowledged. */
export interface Pair {
  readonly primary: string;
  readonly standby: string;
  /** Ends the primary as a crash does: by a signal to its postmaster. */
  killPrimary(): void;
  /** Makes the standby take changes. */
  promote(): void;
  stopStandby(): void;
  startStandby(): void;
  /** Ends what runs, and removes both. */
  remove(): void;
}

/** True when the programs of a server and its copies are on this machine: that of the tests may be elsewhere. */
export const hasPrograms = spawnSync('bash', [SCRIPT, 'programs', '.'], { stdio: 'ignore' }).status === 0;

export async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'pair-'));
  await chmod(folder, 0o755); // the servers run as another user
  const run = (verb: string, name: string, ...more: readonly string[]): string =>
    execFileSync('bash', [SCRIPT, verb, join(folder, name), ...more], { encoding: 'utf8' }).trim();
  const running = new Set<string>();
  const stop = (name: string): void => {
    if (running.delete(name)) run('stop', name, 'immediate');
  };
  const remove = (): void => {
    for (const name of running) stop(name);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [port, standbyPort] = [String(await freePort()), String(await freePort())];
    const primary = run('start', 'primary', port);
    running.add('primary');
    const standby = run('standby', 'standby', standbyPort, port);
    running.add('standby');
    await asAdmin(primary, async (admin) => {
      await admin.query('alter system set synchronous_commit = on');
      await admin.query("alter system set synchronous_standby_names = 'standby'");
      await admin.query('select pg_reload_conf()');
      // From here on a commit waits for the standby: it is seen once the setting is in force.
      for (let i = 0; ; i++) {
        const { rowCount } = await admin.query("select from pg_stat_replication where sync_state = 'sync'");
        if (rowCount === 1) break;
        if (i === 200) throw new Error('The standby has not become synchronous.');
        await sleep(50);
      }
    });
    return {
      primary,
      standby,
      killPrimary: () => stop('primary'),
      promote: () => void run('promote', 'standby'),
      stopStandby: () => stop('standby'),
      startStandby() {
        run('start', 'standby', standbyPort);
        running.add('standby');
      },
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

export async function asAdmin<T>(url: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
