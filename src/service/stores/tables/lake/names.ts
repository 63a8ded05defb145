import { createHash } from 'node:crypto';
import { physicalSchema, physicalTable, quoted } from '../duckdb/identifiers.ts';
import { LAKE } from './attach.ts';
import type { TableId } from '../engine.ts';

/** Names of buckets and tables in the lake: as in the storage, so that people find them with any client. */
export interface LakeNames {
  /** The schema of a bucket, without quotes. */
  schema(bucket: string): string;
  /** The table as it is named in SQL: `lake."in.c-main"."users"`. */
  table(table: TableId): string;
}

/** @param shownBucket gives the name of a bucket for the name of its schema */
export function createLakeNames(shownBucket: (bucket: string) => string): LakeNames {
  const schema = (bucket: string): string => physicalSchema(shownBucket(bucket));
  return {
    schema,
    table: ({ bucket, table }) => `${LAKE}.${quoted(schema(bucket))}.${quoted(physicalTable(table))}`,
  };
}

/** Key of a table in what commits say of themselves. */
export function tableKey({ bucket, table }: TableId): string {
  return createHash('sha256')
    .update(JSON.stringify([bucket, table]))
    .digest('hex')
    .slice(0, 32);
}
