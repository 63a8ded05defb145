import { RunError } from '../lib/errors.ts';
import type { ServiceOptions } from '../service/start/service-options.ts';
import type { TablesKind } from '../service/stores/tables/kind.ts';
import { valued, type Args, type Option } from './command.ts';

/** The options of `gex serve` for how tables are kept; the environment may have them too, as `GEX_TABLES`. */
export const tablesOptions = {
  tables: valued(
    'KIND',
    'How the tables are kept, chosen by the first start: lake (Parquet files with a DuckLake catalogue), postgres (with --database) or duckdb (without); GEX_TABLES by default',
  ),
  'duckdb-extensions': valued(
    'DIR',
    'The folder with the extensions of DuckDB that a lake needs; GEX_DUCKDB_EXTENSIONS by default, else those that DuckDB has or installs itself',
  ),
} as const satisfies Record<string, Option>;

/** @throws {RunError} `command.invalid` */
export function tablesArgs(
  args: Args,
  hasDatabase: boolean,
): Pick<ServiceOptions, 'duckdbExtensions' | 'tables'> {
  const extensions = args.text('duckdb-extensions');
  const kind = args.text('tables');
  if (kind === 'lake' && hasDatabase && args.text('s3') === undefined)
    throw new RunError(
      'command.invalid',
      'A lake over a database keeps its files in an object store, and none is named.',
      {
        hint: 'Add --s3 URL with --s3-bucket and --s3-role-arn; or leave out --database for a lake in a folder.',
      },
    );
  return {
    ...(kind === undefined ? {} : { tables: kindArg('tables', kind, hasDatabase) }),
    ...(extensions === undefined ? {} : { duckdbExtensions: extensions }),
  };
}

/** Returns how tables are kept, from an option with that name. @throws {RunError} `command.invalid` */
export function kindArg(name: string, kind: string, hasDatabase: boolean): TablesKind {
  const own = hasDatabase ? 'postgres' : 'duckdb';
  if (kind === 'lake') return 'lake';
  if (kind === own) return 'own';
  const other = kind === 'postgres' || kind === 'duckdb';
  throw new RunError(
    'command.invalid',
    other
      ? `--${name} ${kind} does not go with ${hasDatabase ? 'a database' : 'a folder'}.`
      : `--${name} is “${kind}”, and there are no tables of that kind.`,
    { hint: `Write --${name} lake, or --${name} ${own}, which is the default here.` },
  );
}
