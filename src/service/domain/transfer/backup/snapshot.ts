import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../../../../lib/env.ts';
import type { DuckDbEngine } from '../../../stores/tables/duckdb/engine.ts';
import { sqlite } from '../../../../lib/sqlite.ts';

/**
 * Snapshots of the metadata and tables of a folder at one time, as files beside those that a service continues to
 * use.
 */
export interface Snapshots {
  /** @returns its name: the folder below `tables/compact`, which has `meta.sqlite` and `tables.duckdb` */
  take(): Promise<string>;
  /** Nothing happens when there is none of that name. */
  drop(name: string): Promise<void>;
}

/** Age at which an unused snapshot is removed with the next one, and at the latest when the service starts. */
const KEPT_MS = 24 * 3_600_000;

export const META = 'meta.sqlite';
export const TABLES = 'tables.duckdb';

/** @param engine the opened engine of the folder */
export function createSnapshots(dir: string, engine: () => Promise<DuckDbEngine>, env: Env): Snapshots {
  const drop = async (name: string): Promise<void> => {
    if (!isName(name)) return;
    await rm(join((await engine()).copyFolder(), name), { recursive: true, force: true });
  };
  return {
    drop,
    async take() {
      const opened = await engine();
      for (const name of await readdir(opened.copyFolder()))
        if (isName(name) && Number(name.slice(0, name.indexOf('-'))) < env.now() - KEPT_MS) await drop(name);
      const name = `${env.now()}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
      const folder = join(opened.copyFolder(), name);
      await mkdir(folder, { mode: 0o700 });
      const meta = new (sqlite().DatabaseSync)(join(dir, META), { readOnly: true, timeout: 10_000 });
      try {
        // Its read transaction begins while no transaction of the tables is committed: so the metadata never tells of
        // rows that the copy of the tables hasn't. What the tables are ahead of it, a restart finishes as after a crash.
        await opened.copyTo(join(folder, TABLES), () => {
          meta.exec('BEGIN');
          meta.prepare('SELECT count(*) FROM sqlite_master').get();
        });
        await sqlite().backup(meta, join(folder, META));
        return name;
      } catch (error) {
        await drop(name);
        throw error;
      } finally {
        meta.close();
      }
    },
  };
}

function isName(name: string): boolean {
  return /^\d{1,15}-[\da-f]{12}$/.test(name);
}
