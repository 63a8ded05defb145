import { storedCells, textsOf } from '../duckdb/cells.ts';
import { CHANGED_AT } from '../duckdb/identifiers.ts';
import { grown } from '../duckdb/import.ts';
import {
  addColumns,
  addTexts,
  formsForFile,
  insertRows,
  keepLastOfKey,
  mergeRows,
  typesForFile,
  type Load,
} from '../duckdb/load.ts';
import { examineStored } from '../duckdb/reshape.ts';
import { withSpool, type Spool } from '../duckdb/spool.ts';
import { newForms, TEXTS, typesOf, type ColumnForms, type ColumnTypes } from '../column-types.ts';
import { checkPrimaryKey, planImport } from '../import-plan.ts';
import { importSource } from '../import-source.ts';
import { noSuchTable } from '../table-error.ts';
import { describeCommit } from './commit.ts';
import { makeTable } from './make.ts';
import { refill, stageRefill, storedNames } from './refill.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { ByteSlice, ImportOutcome, ImportRequest, TableId } from '../engine.ts';
import type { LakeTable } from './catalogue.ts';
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
      .transaction((session) => load(session, store, { table, request, spool, entry, fileColumns, check }), {
        bytes: spool.bytes + (entry?.fileBytes ?? 0),
      });
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
  const isReplaced = entry === undefined || request.incremental !== true;
  const file = { plan, spool, request, isUnordered: true };
  const stored = entry?.forms.types ?? TEXTS.types;
  const types = await typesForFile(
    session,
    file,
    typesOf(columns, request.types ?? stored),
    isReplaced ? TEXTS.types : stored,
  );
  const made: Prepared = { target, columns, primaryKey, file, types };
  let rows = spool.records;
  if (isReplaced) {
    const forms = await prepareEmpty(session, made, entry);
    await insertRows(session, { ...file, target, forms });
    await keepLastOfKey(session, target, key, forms);
    if (key.length > 0) rows = await session.number(`SELECT count(*) FROM ${target}`);
  } else {
    const forms = await prepareMore(session, made, entry);
    // Counted as they come: to count all rows takes DuckLake two round trips more.
    rows = entry.rows + (await mergeRows(session, { ...file, target, key, forms }));
  }
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

/** A table that rows of a file are to come into. */
interface Prepared {
  /** As it is named in SQL. */
  readonly target: string;
  /** With those that the file brings. */
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly file: Pick<Load, 'plan' | 'request' | 'spool'>;
  /** Types that the columns are to have. */
  readonly types: ColumnTypes;
}

/**
 * Makes a table empty, with the columns and types of a file. One that has them, but for new columns, stays the same, so
 * that few loads change the schema of the lake.
 */
async function prepareEmpty(
  session: DuckSession,
  made: Prepared,
  entry: LakeTable | undefined,
): Promise<ColumnForms> {
  const { target, file, types } = made;
  const forms = await formsForFile(session, file, { types, texts: TEXTS.texts });
  if (entry === undefined || isOfOtherTypes(entry, types)) {
    await makeTable(session, target, { ...made, forms });
    return forms;
  }
  const all = { types, texts: new Set([...entry.forms.texts, ...forms.texts]) };
  await widen(session, made, entry, all);
  if (entry.rows > 0) await session.run(`TRUNCATE ${target}`);
  return all;
}

function isOfOtherTypes({ columns, forms }: LakeTable, types: ColumnTypes): boolean {
  return columns.some((name) => forms.types.get(name) !== types.get(name));
}

/**
 * Gives a table the columns and types of a file. One whose columns get other types is written anew: DuckLake changes few
 * types by itself, and not all of these without a loss.
 */
async function prepareMore(session: DuckSession, made: Prepared, entry: LakeTable): Promise<ColumnForms> {
  const { target, columns, primaryKey, file, types } = made;
  const { forms: reshaped, changed } = await newForms(
    entry,
    types,
    examineStored(session, target, entry.forms),
  );
  const forms = await formsForFile(session, file, {
    types: new Map([...reshaped.types, ...typesOf(file.plan.newColumns, types)]),
    texts: reshaped.texts,
  });
  if (changed.length === 0) {
    await widen(session, made, entry, forms);
    return forms;
  }
  const from = textsOf(target, entry.columns, entry.forms);
  await stageRefill(session, from, storedNames(entry.columns, TEXTS));
  await makeTable(session, target, { columns, primaryKey, forms });
  const { names, cells } = storedCells(entry.columns, forms);
  await refill(session, target, {
    names: [...names, CHANGED_AT],
    cells: [...cells, CHANGED_AT],
    rows: entry.rows,
  });
  return forms;
}

/** Adds the columns that a table lacks. */
async function widen(
  session: DuckSession,
  { target, file }: Prepared,
  entry: LakeTable,
  forms: ColumnForms,
): Promise<void> {
  for (const name of entry.columns)
    if (forms.texts.has(name) && !entry.forms.texts.has(name)) await addTexts(session, target, name);
  await addColumns(session, target, file.plan.newColumns, forms);
}
