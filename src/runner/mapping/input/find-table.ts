import { StorageError } from '../../../lib/errors.ts';
import type { StorageClient, Table } from '../../../storage/client/index.ts';
import { nearest } from '../../../lib/suggest.ts';
import type { InputTableMapping } from './table-mapping.ts';

/** A table, and who can read it. */
export interface FoundTable {
  readonly client: StorageClient;
  /** As it was before anything was exported. */
  readonly table: Table;
}

export interface TablePlaces {
  readonly client: StorageClient;
  /** Id of the development branch. */
  readonly branch: string | undefined;
  /** Reaches the default branch, where the other client is one of a development branch. */
  readonly production: StorageClient | undefined;
}

/**
 * Looks a table up: in a development branch first in the branch bucket, `{stage}.c-{branchId}-{name}`, then under its own
 * id, in the branch and in production. A table that is not there, or that lacks a column, is noted in
 * the mapping's problems.
 */
export async function findTable(
  mapping: InputTableMapping,
  places: TablePlaces,
): Promise<FoundTable | undefined> {
  const { source, entry } = mapping;
  if (source === '') return undefined;
  const found = await lookUp(source, places);
  if (found instanceof StorageError) {
    entry.wrong('source', `The table “${source}” may not be read: ${found.message}`, found.hint);
    return undefined;
  }
  if (found === undefined) {
    entry.wrong('source', `There is no table “${source}” in the storage.`, await suggest(source, places));
    return undefined;
  }
  checkColumns(mapping, found.table.columns ?? []);
  return found;
}

async function lookUp(
  source: string,
  { client, branch, production }: TablePlaces,
): Promise<FoundTable | StorageError | undefined> {
  const clients = production === undefined ? [client] : [client, production];
  const ofBranch = branch === undefined ? undefined : branchTable(source, branch);
  const ids = ofBranch === undefined ? [source] : [ofBranch, source];
  let refused: StorageError | undefined;
  for (const id of ids) {
    for (const each of clients) {
      const table = await each.tables.find(id).catch((error: unknown) => {
        if (!(error instanceof StorageError) || error.code !== 'storage.forbidden') throw error;
        // A token for some buckets alone is refused for a branch bucket before it is told that there is none.
        if (id === source) refused ??= error;
        return undefined;
      });
      if (table !== undefined) return { client: each, table };
    }
  }
  return refused;
}

/** Returns the id of a table in a branch: `in.c-main.users` in branch 12 is `in.c-12-main.users`. */
function branchTable(source: string, branch: string): string | undefined {
  const [, stage, rest] = /^(in|out)\.c-(.+)$/.exec(source) ?? [];
  return stage === undefined ? undefined : `${stage}.c-${branch}-${rest ?? ''}`;
}

const LISTED = 10;

async function suggest(source: string, { client, production }: TablePlaces): Promise<string> {
  const lists = await Promise.all([client, production].map(async (each) => await each?.tables.list()));
  const ids = [...new Set(lists.flatMap((tables) => (tables ?? []).map(({ id }) => id)))];
  const near = nearest(source, ids);
  if (near !== undefined) return `Did you mean “${near}”?`;
  const bucket = source.split('.').slice(0, 2).join('.');
  const names = ids.filter((id) => id.startsWith(`${bucket}.`)).map((id) => id.slice(bucket.length + 1));
  if (names.length === 0) return 'An id has a stage, a bucket and a name, such as in.c-main.users.';
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : '';
  return `The bucket ${bucket} has the tables ${names.slice(0, LISTED).join(', ')}${more}.`;
}

function checkColumns({ entry, columns = [], where }: InputTableMapping, known: readonly string[]): void {
  const check = (key: string, column: string): void => {
    if (known.includes(column)) return;
    const near = nearest(column, known);
    const hint = near === undefined ? `It has ${known.join(', ')}.` : `Did you mean “${near}”?`;
    entry.wrong(key, `The table has no column “${column}”.`, hint);
  };
  for (const [i, column] of columns.entries()) check(`columns[${i}]`, column);
  if (where !== undefined) check('where_column', where.column);
}
