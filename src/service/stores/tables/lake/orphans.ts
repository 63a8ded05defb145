import { literal } from '../duckdb/identifiers.ts';
import { LAKE } from './attach.ts';
import { TableError } from '../table-error.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { OrphanedFile, OrphanedFiles, OrphanList } from '../engine.ts';
import type { LakeStore } from './store.ts';

/** Days that a file is kept at least: a load that is still at work has written it, and will name it. */
const OLDEST_LOAD_DAYS = 2;

/** Files that are told with their size and time. */
const SHOWN = 1000;

/** Names that are looked up at a time. */
const NAMES = 500;

/**
 * Finds files below the address of a lake that no version names, such as those of a killed process or of a commit that
 * failed. Their age goes by the clock of the database.
 */
export function orphanedFiles(store: LakeStore): OrphanedFiles {
  const { catalogue } = store;
  const { prefix } = catalogue;

  return {
    list: async (before) => {
      const until = before ?? (await oldest());
      return await store.database().transaction(async (session) => await found(session, until));
    },

    async remove(listed) {
      return await store.database().transaction(async (session) => {
        const now = await found(session, listed.before);
        // Nothing can become older than a moment: whatever is more has lost its owner in another way, and was not seen.
        if (now.count > listed.count)
          throw new TableError(
            'storage.orphans.changed',
            `${now.count} files have no table now, and ${listed.count} were listed. List them again.`,
          );
        await session.run(sweep(listed.before, false));
        return now;
      });
    },
  };

  async function oldest(): Promise<string> {
    const [row] = await catalogue.rows(`SELECT CAST(now() - INTERVAL '${OLDEST_LOAD_DAYS} days' AS VARCHAR)`);
    return String(row?.[0]);
  }

  async function found(session: DuckSession, before: string): Promise<OrphanList> {
    const paths = (await session.rows(sweep(before, true))).map(([path]) => String(path));
    await refuseOwned(paths);
    const files = await describe(session, paths.slice(0, SHOWN));
    return { before, count: paths.length, files };
  }

  /** DuckLake compares addresses; their last parts are unique, and tell the same in another way. */
  async function refuseOwned(paths: readonly string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += NAMES) {
      const names = paths.slice(at, at + NAMES).map((path) => literal(nameOf(path)));
      const owned = [
        'ducklake_data_file',
        'ducklake_delete_file',
        'ducklake_files_scheduled_for_deletion',
      ].map(
        (table) =>
          `SELECT path FROM ${prefix}${table} WHERE regexp_replace(path, '^.*/', '') IN (${names.join(', ')})`,
      );
      const [row] = await catalogue.rows(`${owned.join(' UNION ALL ')} LIMIT 1`);
      if (row !== undefined)
        throw new Error(
          `The catalogue names ${String(row[0])}, which DuckLake takes for a file without an owner.`,
        );
    }
  }
}

/** Lists files without an owner that are older than a moment, or deletes them. */
function sweep(before: string, isDry: boolean): string {
  return `CALL ducklake_delete_orphaned_files('${LAKE}', older_than => CAST(${literal(before)} AS TIMESTAMPTZ), dry_run => ${isDry})`;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

async function describe(session: DuckSession, paths: readonly string[]): Promise<readonly OrphanedFile[]> {
  if (paths.length === 0) return [];
  const rows = await session.rows(
    `SELECT filename, size, epoch_ms(last_modified) FROM read_blob([${paths.map(literal).join(', ')}]) ORDER BY filename`,
  );
  return rows.map(([path, bytes, ms]) => ({
    path: String(path),
    bytes: Number(bytes),
    time: new Date(Number(ms)),
  }));
}
