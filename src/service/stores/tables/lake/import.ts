import { grown } from '../duckdb/import.ts';
import { addColumns, createEmpty, insertRows, keepLastOfKey, mergeRows } from '../duckdb/load.ts';
import { withSpool, type Spool } from '../duckdb/spool.ts';
import { TEXTS } from '../column-types.ts';
import { checkPrimaryKey, planImport } from '../import-plan.ts';
import { importSource } from '../import-source.ts';
import { noSuchTable } from '../table-error.ts';
import { commentOn, type LakeTable } from './catalogue.ts';
import { describeCommit } from './commit.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { ByteSlice, ImportOutcome, ImportRequest, TableId } from '../engine.ts';
import type { LakeStore } from './store.ts';

/**
 * Checks the slices into files, then loads these in one transaction. The caller ensures that nothing else writes to the
 * table meanwhile, and that the schema of a new one is there.
 *
 * @param check throws when somebody else may write to the table
 */
export async function importTable(
  store: LakeStore,
  table: TableId,
  request: ImportRequest,
  slices: AsyncIterable<ByteSlice>,
  check: () => void,
): Promise<ImportOutcome> {
  const known = await store.catalogue.find(table);
  if (request.mark !== undefined && known?.lastImport?.mark === request.mark) return known.lastImport.outcome;
  if (request.create === undefined && known === undefined) throw noSuchTable(table);
  const entry = request.create === undefined ? known : undefined;
  const source = importSource(request, entry?.columns);
  return await withSpool(store.database().spoolFolder, slices, source, async (spool) => {
    const fileColumns = source.fileColumns(spool);
    return await store
      .database()
      .transaction((session) => load(session, store, { table, request, spool, entry, fileColumns, check }));
  });
}

interface Source {
  readonly table: TableId;
  readonly request: ImportRequest;
  readonly spool: Spool;
  /** The table that is there; undefined: it is made. */
  readonly entry: LakeTable | undefined;
  readonly fileColumns: readonly string[];
  readonly check: () => void;
}

async function load(
  session: DuckSession,
  { names }: LakeStore,
  { table, request, spool, entry, fileColumns, check }: Source,
): Promise<ImportOutcome> {
  const plan = planImport({
    fileColumns,
    tableColumns: entry?.columns,
    delimiter: request.delimiter ?? ',',
    useTimestampFromDataFile: request.useTimestampFromDataFile === true,
  });
  const columns = plan.columns.map(({ name }) => name);
  const primaryKey = request.create?.primaryKey ?? entry?.primaryKey ?? [];
  checkPrimaryKey(primaryKey, columns);
  const key = request.deduplicationStrategy === 'insert' ? [] : primaryKey;

  const target = names.table(table);
  // A lake stores texts, whatever the definition of a table says.
  const loaded = { target, plan, spool, request, key, isUnordered: true, forms: TEXTS };
  const isReplaced = entry === undefined || request.incremental !== true;
  if (isReplaced) {
    // A table stays the same one, so that the schema of the lake does not change, and its history goes on.
    if (entry === undefined) {
      await createEmpty(session, target, columns, TEXTS);
      if (primaryKey.length > 0) await session.run(commentOn(target, primaryKey));
    } else {
      await addColumns(session, target, plan.newColumns, TEXTS);
      if (entry.rows > 0) await session.run(`TRUNCATE ${target}`);
    }
    await insertRows(session, loaded);
    await keepLastOfKey(session, target, key, TEXTS);
  } else {
    await addColumns(session, target, plan.newColumns, TEXTS);
    await mergeRows(session, loaded);
  }

  const rows =
    key.length === 0
      ? spool.records + (isReplaced ? 0 : entry.rows)
      : await session.number(`SELECT count(*) FROM ${target}`);
  const bytes = isReplaced ? grown(0, 0, rows, spool) : grown(entry.bytes, entry.rows, rows, spool);
  const outcome: ImportOutcome = {
    importedColumns: plan.importedColumns,
    newColumns: plan.newColumns,
    importedRows: spool.records,
    importedBytes: spool.bytes,
    totalRows: rows,
    totalBytes: bytes,
    columns,
    primaryKey,
  };
  const lastImport =
    request.lastImport ?? (request.mark === undefined ? undefined : { mark: request.mark, outcome });
  const change = {
    what: entry === undefined ? 'create' : isReplaced ? 'replace' : 'import',
    state: { bytes, ...(lastImport === undefined ? {} : { lastImport }) },
    addedColumns: plan.newColumns,
    rows,
  };
  await describeCommit(session, table, change, request);
  check();
  return outcome;
}
