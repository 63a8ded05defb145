import { literal } from '../duckdb/identifiers.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { TableId, TableWriteOptions } from '../engine.ts';
import { LAKE } from './attach.ts';
import type { LakeState } from './catalogue.ts';
import { tableKey } from './names.ts';

/** Change of a table, as its commit says it. */
export interface LakeChange {
  /** For people, such as `import`. */
  readonly what: string;
  /** The state of the table afterwards; undefined when it is gone. */
  readonly state?: LakeState | undefined;
  readonly addedColumns?: readonly string[] | undefined;
  readonly droppedColumns?: readonly string[] | undefined;
  /** Rows afterwards. */
  readonly rows?: number | undefined;
}

/**
 * Gives the commit of the transaction its author, message and facts, which are stored with its snapshot: what the table
 * is then, and the job whose it is, which the catalogue compares with its lease.
 */
export async function describeCommit(
  session: DuckSession,
  table: TableId,
  { what, state, addedColumns = [], droppedColumns = [], rows }: LakeChange,
  { fence, origin }: TableWriteOptions,
): Promise<void> {
  const info = {
    // First of all: the catalogue finds the commits of a table by it.
    table: tableKey(table),
    id: table,
    ...state,
    ...(addedColumns.length === 0 ? {} : { addedColumns }),
    ...(droppedColumns.length === 0 ? {} : { droppedColumns }),
    ...(rows === undefined ? {} : { rows }),
    ...(origin === undefined ? {} : { origin }),
    ...(fence === undefined
      ? {}
      : { fence: { job: fence.jobId, fencing: fence.fencing, worker: fence.worker ?? '' } }),
  };
  const message = `${what} ${table.bucket}/${table.table}`;
  await session.run(
    // The catalogue reads it as JSON, which has no halves of signs.
    `CALL ${LAKE}.set_commit_message('gex', ${literal(message)}, extra_info => ${literal(JSON.stringify(info, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)))})`,
  );
}
