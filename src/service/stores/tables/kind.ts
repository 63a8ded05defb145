import { RunError } from '../../../lib/errors.ts';
import type { Meta } from '../metadata/database.ts';
import { postgresSchema } from '../metadata/dialect.ts';
import { hasProject } from '../metadata/projects.ts';
import { PROJECT, withLocks } from '../metadata/transaction.ts';

/** How the tables of a storage are kept: as the folder or the database itself keeps them, or in a lake. */
export type TablesKind = 'lake' | 'own';

const NAME = 'tables.kind';

/** The variable with the folder of DuckDB's extensions, for commands without `--duckdb-extensions`. */
export const EXTENSIONS_VARIABLE = 'GEX_DUCKDB_EXTENSIONS';

/** Returns the folder with the extensions of DuckDB; undefined: those that DuckDB has, or installs. */
export function extensionsFolder(
  environment: Readonly<Record<string, string | undefined>>,
  given?: string,
): string | undefined {
  const folder = given ?? environment[EXTENSIONS_VARIABLE] ?? '';
  return folder === '' ? undefined : folder;
}

/** Returns how the tables are kept, for every process and command over the storage. */
export async function tablesKind(meta: Meta): Promise<TablesKind> {
  const row = await meta.selectFrom('settings').select('value').where('name', '=', NAME).executeTakeFirst();
  return row?.value === 'lake' ? 'lake' : 'own';
}

/**
 * Checks whether this process can open a lake that a new storage is to be, before anything is decided about it: one
 * that it cannot open would stay a lake.
 *
 * @param extensions folder with the extensions of DuckDB; undefined: those that DuckDB has, or installs
 * @throws {RunError} `lake.extension`
 */
export async function tryTables(
  meta: Meta,
  wanted: TablesKind | undefined,
  extensions: string | undefined,
): Promise<void> {
  if (wanted !== 'lake' || (await hasProject(meta))) return;
  const { extensionsFor, tryExtensions } = await import('./lake/extensions.ts');
  const kind = postgresSchema(meta) === undefined ? 'folder' : 'database';
  await tryExtensions(extensionsFor(kind), extensions);
}

/**
 * Stores how the tables of a storage are kept, before it has any: with another engine the tables that are there would
 * not be seen.
 *
 * @param wanted undefined: as it is
 * @throws {RunError} `lake.elsewhere`
 */
export async function agreeOnTables(meta: Meta, wanted: TablesKind | undefined): Promise<void> {
  if (wanted === undefined) return;
  await withLocks(meta, [PROJECT], async (tx) => {
    const known = await tablesKind(tx);
    if (known === wanted) return;
    if (await hasProject(tx))
      throw new RunError(
        'lake.elsewhere',
        known === 'lake'
          ? 'The tables of this storage are in a lake.'
          : 'The tables of this storage are not in a lake, and the way they are kept is chosen by its first start.',
        {
          hint: [
            'Leave out --tables, or “lake:” in front of --storage, to go on as it is.',
            'To change it, copy everything into an empty folder or database: gex storage migrate --from … --to … --to-tables lake',
          ],
        },
      );
    await tx
      .insertInto('settings')
      .values({ name: NAME, value: wanted })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: wanted }))
      .execute();
  });
}

/** Forgets it, for a copy whose tables are kept in the way of a folder. */
export async function forgetTablesKind(meta: Meta): Promise<void> {
  await meta.deleteFrom('settings').where('name', '=', NAME).execute();
}
