import { createHash } from 'node:crypto';
import { findDeletions } from '../jobs/operations/deletions.ts';
import { isDiskFull } from '../service-error.ts';
import { engineTable } from '../jobs/operations/table-place.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { TableRow } from '../../stores/metadata/tables.ts';
import type {
  ByteSlice,
  ExportedSlice,
  TableDefinition,
  TableDescription,
  TableEngine,
  TableId,
  TableReader,
} from '../../stores/tables/engine.ts';
import { bytesOfSlice } from '../../stores/tables/slice.ts';
import { TIMESTAMP_COLUMN } from '../../stores/tables/import-plan.ts';
import { TableError } from '../../stores/tables/table-error.ts';
import { inParallel, pulled } from './pulled.ts';
import { readStep, saveStep } from './steps.ts';
import type { Moving } from './storage.ts';

/** A table as it was read: two are the same when all of it is. */
export interface TableContent extends TableDefinition {
  readonly rows: number;
  /** Bytes of its CSV with exact change times; `sha256` in hex. */
  readonly bytes: number;
  readonly sha256: string;
}

/** Parts of both storages that the copy of rows needs. */
interface CopiedRows extends Pick<Moving, 'signal' | 'told'> {
  readonly from: Pick<Moving['from'], 'engine' | 'meta'>;
  readonly to: Pick<Moving['to'], 'engine' | 'meta'>;
}

/** Tables that are copied at a time. */
const TABLES = 2;

/** Slices of which two are on the disk at a time. */
const SLICE_BYTES = 64 * 1024 * 1024;

const EXACT = { includeInternalTimestamp: true, hasExactTimes: true } as const;

/**
 * Copies the rows of all tables that are not there yet, in their order, with their change times.
 *
 * @returns what cannot be there, such as a row that is too long for the other engine, for people
 */
export async function copyRows({ from, to, signal, told }: CopiedRows): Promise<string[]> {
  const problems: string[] = [];
  const tables = await tablesOf(from.meta);
  const isBeingDeleted = await findDeletions(from.meta);
  let number = 0;
  await inParallel(tables, TABLES, async (each) => {
    const { branch_id, id } = each;
    signal.throwIfAborted();
    told({ work: 'copy', what: 'table', name: id, number: ++number, count: tables.length });
    const step = `rows/${branch_id}/${id}` as const;
    if ((await readStep(to.meta, step)) !== undefined) return;
    try {
      const table = engineTable(branch_id, id);
      const description = await from.engine.describe(table);
      if (description === undefined) {
        // The job goes along, and deletes what is left of it.
        if (isBeingDeleted(each)) return;
        throw new TableError('storage.tables.notFound', GONE);
      }
      const content = await copyTable(from.engine, to.engine, table, description);
      await saveStep(to.meta, step, content);
    } catch (error) {
      if (!(error instanceof TableError) || isOfAll(error)) throw error;
      problems.push(`table ${id}: ${error.message}`);
    }
  });
  return problems;
}

/** Nothing is wrong with the table, and no other would be copied. */
const isOfAll = (error: TableError): boolean =>
  isDiskFull(error) || error.code === 'storage.tables.notAllowed';

const GONE = 'Its rows are gone, and no job is deleting it: it has to be deleted, or filled again.';

interface ComparedRows {
  readonly differences: string[];
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/** @returns tables that are not what they were copied from, for people; and how much there is */
export async function compareRows({ to, signal, told }: Omit<CopiedRows, 'from'>): Promise<ComparedRows> {
  const differences: string[] = [];
  const tables = await tablesOf(to.meta);
  let [there, rows, bytes, number] = [0, 0, 0, 0];
  await inParallel(tables, TABLES, async ({ branch_id, id }) => {
    signal.throwIfAborted();
    told({ work: 'compare', what: 'table', name: id, number: ++number, count: tables.length });
    const wanted = (await readStep(to.meta, `rows/${branch_id}/${id}`)) as TableContent | undefined; // saved above
    if (wanted === undefined) return;
    const found = await readTable(to.engine, engineTable(branch_id, id));
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      differences.push(`table ${id}: ${difference(wanted, found)}`);
    there++;
    rows += wanted.rows;
    bytes += wanted.bytes;
  });
  return { differences, tables: there, rows, bytes };
}

function difference(wanted: TableContent, found: TableContent | undefined): string {
  if (found === undefined) return 'it is not there';
  if (found.rows !== wanted.rows) return `${found.rows} rows, and ${wanted.rows} in the source`;
  return found.sha256 === wanted.sha256 ? 'other columns, or another key' : 'other rows than in the source';
}

/** Returns the tables with rows of their own, which are all but aliases. */
async function tablesOf(meta: Meta): Promise<Pick<TableRow, 'branch_id' | 'bucket_id' | 'id'>[]> {
  return await meta
    .selectFrom('tables')
    .select(['branch_id', 'bucket_id', 'id'])
    .where('alias_source', 'is', null)
    .orderBy('branch_id')
    .orderBy('id')
    .execute();
}

async function copyTable(
  from: TableReader,
  to: TableEngine,
  table: TableId,
  { columns, primaryKey, lastImport, types }: TableDescription,
): Promise<TableContent> {
  const hash = createHash('sha256');
  let bytes = 0;
  const exported = { rows: 0 };
  const slices = pulled<ByteSlice>(async (give) => {
    const outcome = await from.export(
      table,
      EXACT,
      { gzip: false, targetBytes: SLICE_BYTES },
      async (slice) => {
        await give(
          looked(slice, (chunk) => {
            hash.update(chunk);
            bytes += chunk.length;
          }),
        );
      },
    );
    exported.rows = outcome.rows;
  });
  await to.import(
    table,
    {
      importedAt: new Date(0), // no row is without a time of its own
      create: { primaryKey },
      types,
      lastImport,
      columns: [...columns, TIMESTAMP_COLUMN],
      isSliced: true,
      useTimestampFromDataFile: true,
      // Rows that were added without a look at the key may share one.
      deduplicationStrategy: 'insert',
    },
    slices,
  );
  return contentOf({ columns, primaryKey }, exported.rows, bytes, hash.digest('hex'));
}

async function readTable(engine: TableReader, table: TableId): Promise<TableContent | undefined> {
  const description = await engine.describe(table);
  if (description === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  const { rows } = await engine.export(
    table,
    EXACT,
    { gzip: false, targetBytes: SLICE_BYTES },
    async (slice) => {
      for await (const chunk of looked(slice, (each) => void hash.update(each))) bytes += chunk.length;
    },
  );
  return contentOf(description, rows, bytes, hash.digest('hex'));
}

function contentOf(
  { columns, primaryKey }: TableDefinition,
  rows: number,
  bytes: number,
  sha256: string,
): TableContent {
  return { columns, primaryKey, rows, bytes, sha256 };
}

async function* looked(slice: ExportedSlice, look: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of bytesOfSlice(slice)) {
    look(chunk);
    yield chunk;
  }
}
