import { toJsonText, type Json } from '../../lib/json/index.ts';

export interface ManifestOptions {
  /** Bucket without stage and `c-`; undefined when the run has none. */
  readonly bucket?: string | undefined;
  /** Name of the table, without the bucket. */
  readonly table: string;
  readonly incremental: boolean;
  readonly primaryKey?: readonly string[] | undefined;
  /** Columns with their types; undefined: all are text. */
  readonly schema?: readonly ManifestColumn[] | undefined;
  /** The table got no rows and only its header is written: the keys then have another order. Default false. */
  readonly missing?: boolean | undefined;
}

/** A column of a manifest. */
export interface ManifestColumn {
  readonly name: string;
  /** Type that all databases know, such as `NUMERIC`. */
  readonly base: string;
  /** Type of our own, such as `DECIMAL`. */
  readonly type: string;
  readonly length?: string;
}

/**
 * Returns the text of a table's manifest: compact JSON, no newline at the end, such as
 * `{"destination":"in.c-mock-server.users","incremental":false,"primary_key":["id"]}`. A table without rows begins with
 * `incremental`.
 */
export function tableManifest(options: ManifestOptions): string {
  const { bucket, table, incremental, primaryKey = [], schema, missing = false } = options;
  const destination = bucket === undefined || bucket === '' ? {} : { destination: `in.c-${bucket}.${table}` };
  const key: { primary_key?: Json } = primaryKey.length === 0 ? {} : { primary_key: primaryKey };
  if (schema !== undefined)
    return toJsonText({
      ...destination,
      incremental,
      has_header: true,
      schema: schemaJson(schema, primaryKey),
    });
  return toJsonText(
    missing ? { incremental, ...destination, ...key } : { ...destination, incremental, ...key },
  );
}

/** Returns the columns with their types, and with the metadata that told them before there was a schema. */
function schemaJson(schema: readonly ManifestColumn[], primaryKey: readonly string[]): Json {
  return schema.map(({ name, base, type, length }): Json => {
    const isKey = primaryKey.includes(name);
    return {
      name,
      data_type: { base: { type: base, ...(length === undefined ? {} : { length }) } },
      nullable: !isKey,
      primary_key: isKey,
      metadata: {
        'KBC.datatype.type': type,
        'KBC.datatype.nullable': isKey ? '0' : '1',
        'KBC.datatype.basetype': base,
        ...(length === undefined ? {} : { 'KBC.datatype.length': length }),
      },
    };
  });
}
