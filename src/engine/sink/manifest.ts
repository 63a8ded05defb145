import { toJsonText, type Json } from '../../lib/json/index.ts';

export interface ManifestOptions {
  /** Bucket without stage and `c-`; undefined when the run has none. */
  readonly bucket?: string | undefined;
  /** Name of the table, without the bucket. */
  readonly table: string;
  readonly incremental: boolean;
  readonly primaryKey?: readonly string[] | undefined;
  /** The table got no rows and only its header is written: the keys then have another order. Default false. */
  readonly missing?: boolean | undefined;
}

/**
 * Returns the text of a table's manifest: compact JSON, no newline at the end, such as
 * `{"destination":"in.c-mock-server.users","incremental":false,"primary_key":["id"]}`. A table without rows begins with
 * `incremental`.
 */
export function tableManifest(options: ManifestOptions): string {
  const { bucket, table, incremental, primaryKey = [], missing = false } = options;
  const destination = bucket === undefined || bucket === '' ? {} : { destination: `in.c-${bucket}.${table}` };
  const key: { primary_key?: Json } = primaryKey.length === 0 ? {} : { primary_key: primaryKey };
  return toJsonText(
    missing ? { incremental, ...destination, ...key } : { ...destination, incremental, ...key },
  );
}
