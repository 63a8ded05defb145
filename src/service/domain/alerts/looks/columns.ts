import { isoTime } from '../../../../lib/iso-time.ts';
import { readTime } from '../../../../storage/protocol/read-time.ts';
import type { WatchedColumn } from '../../../../storage/protocol/alert.ts';
import { findTable, type StoredTable } from '../../../stores/metadata/stored-tables.ts';
import type { TableEngine } from '../../../stores/tables/engine.ts';
import type { Context } from '../../context.ts';
import { rowsOf, type AliasedRows } from '../../jobs/operations/alias.ts';
import { engineTable } from '../../jobs/operations/table-place.ts';
import { findingOf, type AlertFinding, type AlertFindings, type AlertLook } from '../finding.ts';

const PREFIX = 'column ';
const MINUTE_MS = 60_000;

/** Newest time of a column, as it was read. */
interface Newest {
  readonly revision: string;
  readonly readAt: number;
  /** Milliseconds since 1970; undefined when there is none. */
  readonly time: number | undefined;
}

/** A time that was in the future may not be so any more. */
const REREAD_MS = 15 * MINUTE_MS;

type ColumnContext = Pick<Context, 'project'> & { readonly engine?: TableEngine | undefined };

/** Looks at the newest values of columns. */
export type ColumnLook = (look: AlertLook, context: ColumnContext) => Promise<AlertFindings>;

/** Makes the look at the newest values of columns. A table is read again when it has changed, and now and then. */
export function createColumnLook(): ColumnLook {
  const seen = new Map<string, Newest>();
  return async ({ meta, alert, kinds, now, known }, { engine, project }) => {
    const found = new Map<string, AlertFinding | undefined>(
      known.filter((key) => key.startsWith(PREFIX)).map((key) => [key, undefined]),
    );
    if (!kinds.has('stale') || alert.columns === null || engine === undefined) return found;
    // Written by this service.
    for (const watched of JSON.parse(alert.columns) as readonly WatchedColumn[]) {
      const { column } = watched;
      const key = JSON.stringify([alert.branch_id, watched.table, column]);
      const table = await findTable(meta, alert.branch_id, watched.table);
      const hasColumn = table?.columns.some(({ name }) => name === column) === true;
      let newest: number | undefined;
      if (table !== undefined && hasColumn) {
        const source = await rowsOf(meta, { project }, table);
        const { created, id, revision: number } = source.table;
        const revision = JSON.stringify([table.created, id, created, number]);
        const before = seen.get(key);
        if (before?.revision === revision && now - before.readAt < REREAD_MS) newest = before.time;
        else {
          newest = await newestIn(engine, source, column, now);
          seen.set(key, { revision, readAt: now, time: newest });
        }
      }
      found.set(`${PREFIX}${key}`, findingIn(watched, { table, hasColumn, newest, now, key }));
    }
    return found;
  };
}

async function newestIn(
  engine: TableEngine,
  { table, query }: AliasedRows,
  column: string,
  now: number,
): Promise<number | undefined> {
  const { rows } = await engine.preview(
    engineTable(table.branch_id, table.id),
    query({
      columns: [column],
      where: [{ column, operator: 'le', values: [filterTime(now)], isTime: true }],
      orderBy: [{ column, order: 'DESC' }],
      limit: 1,
    }),
  );
  return readTime(rows[0]?.[0] ?? '', now)?.getTime();
}

/** Returns a time as filters over times have it. */
const filterTime = (time: number): string => isoTime(time).slice(0, 19).replace('T', ' ');

function findingIn(
  { table: id, column, warnMinutes, errorMinutes }: WatchedColumn,
  {
    table,
    hasColumn,
    newest,
    now,
    key,
  }: {
    readonly table: StoredTable | undefined;
    readonly hasColumn: boolean;
    readonly newest: number | undefined;
    readonly now: number;
    readonly key: string;
  },
): AlertFinding | undefined {
  const finding = {
    lock_key: `${PREFIX}${key}`,
    kind: 'stale',
    cause: `${PREFIX}${key}`,
    place: JSON.stringify({ table: id, column }),
  } as const;
  if (!hasColumn)
    return findingOf({
      ...finding,
      severity: 'error',
      detail: table === undefined ? 'There is no such table.' : 'The table has no such column.',
      since: isoTime(now),
    });
  const since = newest ?? Date.parse(table?.created ?? '');
  const age = (now - since) / MINUTE_MS;
  if (age < warnMinutes) return undefined;
  return findingOf({
    ...finding,
    severity: errorMinutes != null && age >= errorMinutes ? 'error' : 'warning',
    detail:
      newest === undefined
        ? 'The column has no time yet.'
        : `The newest time is ${isoTime(newest)}, and the table was loaded last at ${table?.last_import ?? 'no time'}.`,
    since: isoTime(since),
  });
}
