import { createWriteStream } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { nearest } from '../../lib/suggest.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { QueryError, RESULT_FILE } from '../stores/query/messages.ts';
import type {
  NamedTable,
  NeededTables,
  QueryFormat,
  QueryLimits,
  QueryOutcome,
  QueryRows,
  QueryTable,
  QueryTableColumn,
} from '../stores/query/messages.ts';
import { runQuery } from '../stores/query/query-process.ts';
import { findTable, listTables, type StoredTable } from '../stores/metadata/stored-tables.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';
import { TableError } from '../stores/tables/table-error.ts';
import { ApiError } from './api-error.ts';
import type { DataContext } from './data-context.ts';
import { rowsOf } from './jobs/operations/alias.ts';
import { engineTable } from './jobs/operations/table-place.ts';
import { toServiceError } from './service-error.ts';
import type { Caller } from './tokens/caller.ts';
import { mayUseBucket } from './tokens/permissions.ts';

const MB = 1024 * 1024;

export const QUERY_LIMITS: QueryLimits = {
  // Less than the minute for which clients wait for an answer.
  milliseconds: 50_000,
  memoryMb: 512,
  inputBytes: 4096 * MB,
  diskBytes: 8192 * MB,
  rows: 1_000_000,
  threads: 2,
};

/** Queries at a time, and those that wait for one to end. */
const AT_ONCE = 2;
const WAITING = 8;
/** Bytes of one file of rows on their way to a query. */
const SLICE_BYTES = 64 * MB;

export interface TableQuery {
  readonly sql: string;
  readonly format: QueryFormat;
  readonly limit: number | undefined;
  readonly caller: Caller;
  readonly branch: BranchRow;
  /** Ends the query when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

export interface QueryResult extends QueryOutcome {
  readonly file: string;
  /** Removes the file. */
  remove(): void;
}

export interface TableQueries {
  /** @throws {QueryError}; {ApiError} for a table that the token cannot read, and when too many ask */
  run(query: TableQuery): Promise<QueryResult>;
  /** Ends all queries. */
  stop(): Promise<void>;
}

/** Makes the part of the service that answers queries over the tables which a token may read. */
export function createTableQueries(context: DataContext, limits: QueryLimits = QUERY_LIMITS): TableQueries {
  const stopping = new AbortController();
  const waiting: (() => void)[] = [];
  const running = new Set<Promise<unknown>>();
  let atWork = 0;

  return {
    async run(query) {
      const late = AbortSignal.timeout(limits.milliseconds);
      const signal = AbortSignal.any([query.signal, stopping.signal, late]);
      const done = turn(signal).then(async () => {
        try {
          return await runIn(context, query, limits, signal);
        } finally {
          // The place goes to the next one, or is free.
          const next = waiting.shift();
          if (next === undefined) atWork--;
          else next();
        }
      });
      running.add(done);
      try {
        return await done;
      } catch (error) {
        if (late.aborted && !query.signal.aborted && !stopping.signal.aborted)
          throw new QueryError({
            code: 'storage.sql.tooLong',
            message: `The query took longer than ${limits.milliseconds / 1000} seconds and was ended. Read fewer columns, rows or tables.`,
          });
        throw error;
      } finally {
        running.delete(done);
      }
    },
    async stop() {
      stopping.abort(busy());
      await Promise.allSettled(running);
    },
  };

  /** Waits for a place. @throws {ApiError} 503 when others wait already */
  async function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (atWork < AT_ONCE) {
      atWork++;
      return;
    }
    if (waiting.length >= WAITING) throw busy();
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        // An abort has a reason, which is an error here.
        reject(signal.reason as Error);
      };
      waiting.push(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

const busy = (): ApiError =>
  new ApiError(503, 'storage.busy', 'Too many queries are being answered. Ask again in some seconds.', {
    retryAfter: 5,
  });

async function runIn(
  context: DataContext,
  query: TableQuery,
  limits: QueryLimits,
  signal: AbortSignal,
): Promise<QueryResult> {
  const folder = makeTempFolder('query');
  try {
    const found = new Map<QueryTable, StoredTable>();
    const { sql, format, limit } = query;
    const outcome = await runQuery(
      { sql, format, limit, limits, folder: folder.path, signal },
      {
        async find(needs) {
          for (const named of needs.tables) {
            const table = await readable(context, named, query);
            const { schema, table: name } = named;
            found.set({ schema, table: name, columns: await columnsFor(context, table, needs) }, table);
          }
          refuseTwins([...found.keys()]);
          return [...found.keys()];
        },
        async rows(tables, most) {
          const all: QueryRows[] = [];
          const room = { bytes: limits.inputBytes };
          for (const [i, table] of tables.entries()) {
            const stored = found.get(table);
            if (stored === undefined) throw new Error('The table was not found before.');
            const place = path.join(folder.path, `table-${i}`);
            all.push(await exportRows(context, { table, stored, place, most, room, signal }));
          }
          return all;
        },
      },
    ).catch((error: unknown) => {
      // The store of the tables may be away, or not give them out.
      const isKnown =
        error instanceof ApiError ||
        error instanceof QueryError ||
        error instanceof TableError ||
        toServiceError(error) !== undefined;
      if (!signal.aborted && !isKnown) {
        context.log.error('A query failed', { detail: String(error) });
        throw new QueryError({
          code: 'storage.sql.failed',
          message: 'The query could not be run: its process ended. A simpler one may work.',
        });
      }
      throw error;
    });
    return { ...outcome, file: path.join(folder.path, RESULT_FILE), remove: () => folder.remove() };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

/** Finds a table by its name as written, else by one that differs in capitals alone. */
async function readable(
  { meta }: DataContext,
  { schema, table, place }: NeededTables['tables'][number],
  { caller, branch }: Pick<TableQuery, 'branch' | 'caller'>,
): Promise<StoredTable> {
  const id = `${schema}.${table}`;
  const mayRead = (row: Pick<StoredTable, 'bucket_id'>): boolean =>
    mayUseBucket(caller, branch.id, row.bucket_id, 'read');
  const isMeant = (row: Pick<StoredTable, 'bucket_id'>): boolean =>
    row.bucket_id.toLowerCase() === schema.toLowerCase() && mayRead(row);
  const exact = await findTable(meta, branch.id, id);
  if (exact !== undefined && isMeant(exact)) return exact;
  const all = await listTables(meta, branch.id);
  const alike = all.filter((row) => row.id.toLowerCase() === id.toLowerCase() && isMeant(row));
  const [only] = alike;
  const found = only && alike.length === 1 ? await findTable(meta, branch.id, only.id) : undefined;
  if (found !== undefined) return found;
  const near = nearTable(id, all.filter(mayRead));
  // The same for one that is there and may not be read.
  throw new QueryError({
    code: 'storage.sql.noTable',
    message: `There is no table ${quoted(schema)}.${quoted(table)} that this token may read. ${
      near === undefined
        ? 'Tables are named with their buckets, such as "in.c-main"."users".'
        : `Did you mean ${quoted(near.bucket_id)}.${quoted(near.name)}?`
    }`,
    place,
  });
}

function nearTable<Row extends Pick<StoredTable, 'id'>>(id: string, tables: readonly Row[]): Row | undefined {
  const near = nearest(
    id,
    tables.map((table) => table.id),
  );
  return tables.find((table) => table.id === near);
}

async function columnsFor(
  context: DataContext,
  table: StoredTable,
  needs: NeededTables,
): Promise<QueryTableColumn[]> {
  const names = namesFor(table, needs);
  const source = await rowsOf(context.meta, context, table);
  const stored = await context.engine.describe(engineTable(source.table.branch_id, source.table.id));
  return names.map((name) => ({ name, type: stored?.types?.get(name) }));
}

function namesFor(table: StoredTable, { columns }: NeededTables): string[] {
  const all = table.columns.map(({ name }) => name);
  if (columns === undefined) return all;
  const wanted = new Set(columns);
  const needed = all.filter((name) => wanted.has(name.toLowerCase()));
  // Rows are counted by any column.
  return needed.length > 0 ? needed : all.slice(0, 1);
}

function refuseTwins(tables: readonly NamedTable[]): void {
  const seen = new Map<string, NamedTable>();
  for (const table of tables) {
    const name = JSON.stringify([table.schema.toLowerCase(), table.table.toLowerCase()]);
    const other = seen.get(name);
    if (other !== undefined)
      throw new QueryError({
        code: 'storage.sql.invalid',
        message: `SQL takes ${quoted(other.schema)}.${quoted(other.table)} and ${quoted(table.schema)}.${quoted(table.table)} for one table: write the name in one way.`,
      });
    seen.set(name, table);
  }
}

async function exportRows(
  context: DataContext,
  asked: {
    readonly table: QueryTable;
    readonly stored: StoredTable;
    readonly place: string;
    readonly most: number | undefined;
    readonly room: { bytes: number };
    readonly signal: AbortSignal;
  },
): Promise<QueryRows> {
  const { table, stored, place, most, room, signal } = asked;
  const source = await rowsOf(context.meta, context, stored);
  await mkdir(place, { mode: 0o700 });
  const files: string[] = [];
  const take = (bytes: number): void => {
    signal.throwIfAborted();
    room.bytes -= bytes;
    if (room.bytes >= 0) return;
    throw new QueryError({
      code: 'storage.sql.tooLarge',
      message:
        'The tables of the query are larger than a query may read. Read fewer columns, or export them.',
    });
  };
  const { rows } = await context.engine.export(
    engineTable(source.table.branch_id, source.table.id),
    source.query({
      columns: table.columns.map(({ name }) => name),
      ...(most === undefined ? {} : { limit: most }),
    }),
    { gzip: false, targetBytes: SLICE_BYTES },
    async (slice, index) => {
      const file = path.join(place, `${index}.csv`);
      files.push(file);
      if (slice.kind === 'file') {
        take(slice.bytes);
        await copyFile(slice.path, file);
        return;
      }
      await pipeline(
        slice.stream,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            take(chunk.length);
            yield chunk;
          }
        },
        createWriteStream(file, { mode: 0o600 }),
      );
    },
  );
  return { schema: table.schema, table: table.table, files, rows };
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
