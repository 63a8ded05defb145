import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Env } from '../../../../lib/env.ts';
import type { DuckDbEngine } from '../../../stores/tables/duckdb/engine.ts';
import { sqlite } from '../../../../lib/sqlite.ts';
import { openMeta } from '../../../stores/metadata/database.ts';
import type { TableReader } from '../../../stores/tables/engine.ts';
import { renewEpoch } from '../../../stores/tables/folder-epoch.ts';
import { forgetTablesKind } from '../../../stores/tables/kind.ts';
import type { LakeEngine } from '../../../stores/tables/lake/engine.ts';
import { copyRows } from '../rows.ts';
import { forgetSteps } from '../steps.ts';

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

/** Megabytes of memory of the engine of a copy, beside the one of the service. */
const COPY_MEMORY_MB = 96;

export const META = 'meta.sqlite';
export const TABLES = 'tables.duckdb';

/** @param engine the opened engine of the folder */
export function createSnapshots(
  dir: string,
  engine: () => Promise<DuckDbEngine | LakeEngine>,
  env: Env,
): Snapshots {
  const copies = join(dir, 'tables', 'compact');
  const drop = async (name: string): Promise<void> => {
    if (isName(name)) await rm(join(copies, name), { recursive: true, force: true });
  };
  return {
    drop,
    async take() {
      const opened = await engine();
      await mkdir(copies, { recursive: true, mode: 0o700 });
      for (const name of await readdir(copies))
        if (isName(name) && Number(name.slice(0, name.indexOf('-'))) < env.now() - KEPT_MS) await drop(name);
      const name = `${env.now()}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
      const folder = join(copies, name);
      await mkdir(folder, { mode: 0o700 });
      const meta = new (sqlite().DatabaseSync)(join(dir, META), { readOnly: true, timeout: 10_000 });
      try {
        // Its read transaction begins while no transaction of the tables is committed: so the metadata never tells of
        // rows that the copy of the tables hasn't. What the tables are ahead of it, a restart finishes as after a crash.
        const begin = (): void => {
          meta.exec('BEGIN');
          meta.prepare('SELECT count(*) FROM sqlite_master').get();
        };
        if ('copyTo' in opened) {
          await opened.copyTo(join(folder, TABLES), begin);
          await sqlite().backup(meta, join(folder, META));
        } else {
          begin();
          const tables = opened.at(await opened.version());
          await sqlite().backup(meta, join(folder, META));
          await copyLake(tables, folder, env);
        }
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

/** Copies the tables that a copy of the metadata tells of into a file beside it, which is how a backup has them. */
async function copyLake(tables: TableReader, folder: string, env: Env): Promise<void> {
  const { createDuckDbEngine } = await import('../../../stores/tables/duckdb/engine.ts');
  const meta = await openMeta(join(folder, META));
  const engine = createDuckDbEngine({
    folder: join(folder, 'copied'),
    memoryLimitMb: COPY_MEMORY_MB,
    threads: 1,
  });
  try {
    await engine.open();
    const given = { signal: new AbortController().signal, told: () => undefined };
    const problems = await copyRows({ from: { meta, engine: tables }, to: { meta, engine }, ...given });
    if (problems.length > 0) throw new Error(`Not every table can be copied: ${problems.join('; ')}`);
    await forgetSteps(meta);
    await forgetTablesKind(meta);
    // The log of the database is merged into its file.
    await engine.compact();
    await renewEpoch(meta, engine, env);
    await engine.compact();
  } finally {
    await engine.close();
    await meta.destroy();
  }
  await rename(join(folder, 'copied', TABLES), join(folder, TABLES));
}

function isName(name: string): boolean {
  return /^\d{1,15}-[\da-f]{12}$/.test(name);
}
