import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { resolveTimes, TEXTS, typesOf } from '../column-types.ts';
import { checkPrimaryKey, planImport, type ImportPlan } from '../import-plan.ts';
import { importSource } from '../import-source.ts';
import { noSuchTable } from '../table-error.ts';
import { placeOf, relation, type PostgresCatalogEntry, type TablePlace } from './catalog.ts';
import { examine, formsForFile, typesFor } from './cells.ts';
import { openContent, type CsvContent } from './content.ts';
import { checkFence } from './fence.ts';
import { fewOrMany, type FewRows } from './few.ts';
import { mergeRows, replaceRows } from './load.ts';
import { column, literal, timestampLiteral } from './names.ts';
import { reshape } from './reshape.ts';
import { stagedInMemory, stagedInTable, TIME_TEXT, type StagedRows } from './staged.ts';
import { makeTable, placeBeside } from './table.ts';
import type { ByteSlice, ImportOutcome, ImportRequest, TableId } from '../engine.ts';
import type { PostgresSession } from './connection.ts';
import type { Store } from './store.ts';

/**
 * All in one transaction, so nothing is left of an import that is cut: the rows are held in memory, or go into a table of
 * their own, while they are checked, and only then is the table they are for locked against other writers.
 */
export async function importTable(
  store: Store,
  table: TableId,
  request: ImportRequest,
  slices: AsyncIterable<ByteSlice>,
): Promise<ImportOutcome> {
  const { connections, catalog, buckets } = store;
  const known = await connections.look((session) => catalog.find(session, table));
  const before = outcomeOfMark(known, request);
  if (before !== undefined) return before;
  if (request.create === undefined && known === undefined) throw noSuchTable(table);

  const tableColumns = request.create === undefined ? known?.columns : undefined;
  const source = importSource(request, tableColumns);
  const content = await openContent(slices, source);
  try {
    const fileColumns = source.fileColumns(content);
    const planned = plan(request, fileColumns, request.create === undefined ? known : undefined);
    // Before the transaction begins: one that waits for a file of few rows would be silent meanwhile.
    const found = await fewOrMany(content, isFew(store, request, known) ? store.few : NONE);
    const bring = found.records === undefined ? await besideTable(found.chunks) : inMemory(found.records);
    return await connections.transaction(async (session) => {
      const staged = await bring(session);
      await staged.emptyValues(request.treatValuesAsNull ?? []);
      const outcome = await load(session, store, table, request, { staged, content, fileColumns });
      await checkFence(session, store.service, request);
      return outcome;
    }, WORK_MEMORY);

    async function besideTable(chunks: AsyncIterable<Uint8Array>): Promise<Bring> {
      // In a transaction of its own: others with tables in a new bucket would wait for the whole import.
      const schema = await connections.transaction((session) => buckets.schemaOf(session, table.bucket));
      const rows = { request, content, chunks, planned, fileColumns };
      return (session) => stage(session, placeOf(schema, table), rows);
    }

    function inMemory(records: readonly (readonly string[])[]): Bring {
      return () => Promise.resolve(stagedInMemory(records, planned, changeTime(request)));
    }
  } finally {
    await content.close();
  }
}

/** Brings the rows of the file to where they are checked. */
type Bring = (session: PostgresSession) => Promise<StagedRows>;

/** For the sorting and joining of many rows. */
const WORK_MEMORY = `SET LOCAL work_mem = '64MB'`;

/** No file has so few. */
const NONE: FewRows = { rows: -1, bytes: -1 };

/**
 * Tells whether rows may be loaded without a table of their own: when that would not become the table they are for, and
 * when the rows that they replace are few as well. When tables are spread over servers, rows are merged on each of
 * them.
 */
function isFew(
  { connections, few }: Store,
  request: ImportRequest,
  known: PostgresCatalogEntry | undefined,
): boolean {
  if (connections.isDistributed || request.create !== undefined || known === undefined) return false;
  return request.incremental === true || known.rows <= few.rows;
}

function outcomeOfMark(
  entry: PostgresCatalogEntry | undefined,
  { mark }: ImportRequest,
): ImportOutcome | undefined {
  return mark !== undefined && entry?.lastImport?.mark === mark ? entry.lastImport.outcome : undefined;
}

interface Planned extends ImportPlan {
  readonly primaryKey: readonly string[];
  readonly isReplaced: boolean;
}

function plan(
  request: ImportRequest,
  fileColumns: readonly string[],
  entry: PostgresCatalogEntry | undefined,
): Planned {
  const planned = planImport({
    fileColumns,
    tableColumns: entry?.columns,
    delimiter: request.delimiter ?? ',',
    useTimestampFromDataFile: request.useTimestampFromDataFile === true,
  });
  const primaryKey = request.create?.primaryKey ?? entry?.primaryKey ?? [];
  checkPrimaryKey(
    primaryKey,
    planned.columns.map(({ name }) => name),
  );
  return { ...planned, primaryKey, isReplaced: entry === undefined || request.incremental !== true };
}

interface Source {
  readonly request: ImportRequest;
  readonly content: CsvContent;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly planned: Planned;
  readonly fileColumns: readonly string[];
}

const changeTime = ({ importedAt, importMicros }: ImportRequest): string =>
  timestampLiteral(importedAt, importMicros);

/** Brings the rows into a table of their own. */
async function stage(session: PostgresSession, beside: TablePlace, source: Source): Promise<StagedRows> {
  const { request, content, chunks, planned, fileColumns } = source;
  const { timestampCell, primaryKey, isReplaced } = planned;
  const place = placeBeside(beside);
  const columns = planned.columns.map(({ name }) => name);
  const hasTimes = timestampCell !== undefined;
  // Rows with times of their own are written a second time anyway.
  const canReplace = isReplaced && !hasTimes;
  await makeTable(session, place, {
    columns,
    primaryKey,
    changedAt: changeTime(request),
    isPassing: !canReplace,
  });
  if (hasTimes) await session.run(`ALTER TABLE ${relation(place)} ADD COLUMN ${TIME_TEXT} text NOT NULL`);
  const names = new Map(planned.columns.map(({ name, cell }) => [cell, column(name)]));
  if (hasTimes) names.set(timestampCell, TIME_TEXT);
  const inFile = fileColumns.map((_, cell) => names.get(cell) ?? '');
  const { delimiter, enclosure = 0x22 } = content.dialect;
  const options = [
    'FORMAT csv',
    `DELIMITER ${literal(String.fromCharCode(delimiter))}`,
    `QUOTE ${literal(String.fromCharCode(enclosure))}`,
    `ESCAPE ${literal(String.fromCharCode(enclosure))}`,
    `ENCODING 'UTF8'`,
    // For an empty cell to stay a text.
    `FORCE_NOT_NULL (${inFile.join(', ')})`,
  ];
  const copy = copyFrom(`COPY ${relation(place)} (${inFile.join(', ')}) FROM STDIN (${options.join(', ')})`);
  session.client.query(copy);
  await pipeline(chunks, copy);
  const { records } = content.counted;
  if (copy.rowCount !== records)
    throw new Error(`The database read ${copy.rowCount} rows of a file that has ${records}.`);
  return stagedInTable(session, place, { columns, records, hasTimes, canReplace });
}

async function load(
  session: PostgresSession,
  { catalog, buckets }: Store,
  table: TableId,
  request: ImportRequest,
  {
    staged,
    content,
    fileColumns,
  }: { staged: StagedRows; content: CsvContent; fileColumns: readonly string[] },
): Promise<ImportOutcome> {
  // It stays as it is from here on, whatever it was when the rows came.
  const place = placeOf(await buckets.schemaOf(session, table.bucket), table);
  const found =
    request.create === undefined
      ? await catalog.lock(session, table)
      : await catalog.claim(session, table, place);
  const before = outcomeOfMark(found, request);
  if (before !== undefined) {
    await staged.drop();
    return before;
  }
  const entry = request.create === undefined ? found : undefined;
  const {
    importedColumns,
    newColumns,
    primaryKey,
    isReplaced,
    columns: planned,
  } = plan(request, fileColumns, entry);
  const columns = planned.map(({ name }) => name);
  const key = request.deduplicationStrategy === 'insert' ? [] : primaryKey;
  const stored = entry?.forms.types ?? TEXTS.types;
  const resolved = await resolveTimes(
    typesOf(columns, request.types ?? stored),
    isReplaced ? TEXTS.types : stored,
    (given) => examine(session, staged.source(), given),
  );
  const types = typesFor(session, columns, resolved);
  let loaded;
  if (entry !== undefined && !isReplaced) {
    const shaped = await reshape(session, entry, types);
    const forms = await formsForFile(session, staged.source(), {
      types: new Map([...shaped.forms.types, ...typesOf(newColumns, types)]),
      texts: shaped.forms.texts,
    });
    loaded = await mergeRows(session, staged, { entry: shaped, forms }, key);
    await staged.drop();
  } else {
    const forms = await formsForFile(session, staged.source(), { types, texts: TEXTS.texts });
    const target = { place, old: found, isNew: entry === undefined, primaryKey, forms };
    loaded = await replaceRows(session, staged, target, key);
  }

  const bytes = sizeOf(content, loaded.rows, isReplaced ? undefined : entry);
  const outcome: ImportOutcome = {
    importedColumns,
    newColumns,
    importedRows: staged.records,
    importedBytes: content.counted.bytes,
    totalRows: loaded.rows,
    totalBytes: bytes,
    columns,
    primaryKey,
  };
  const lastImport =
    request.lastImport ?? (request.mark === undefined ? undefined : { mark: request.mark, outcome });
  await catalog.save(session, table, { ...loaded, place, columns, primaryKey, bytes, lastImport });
  return outcome;
}

/**
 * Estimates the size of the rows by the average row of the file: reading all of them would take longer than adding
 * some.
 */
function sizeOf({ counted }: CsvContent, rows: number, before: PostgresCatalogEntry | undefined): number {
  if (rows === 0) return 0;
  const each = counted.records === 0 ? 0 : counted.bytes / counted.records;
  return Math.max(1, Math.round((before?.bytes ?? 0) + each * (rows - (before?.rows ?? 0))));
}
