import type { Pool } from 'pg';
import { literal, physicalTable, quoted } from '../duckdb/identifiers.ts';
import { TEXT_SUFFIX, type ColumnForms, type NativeType } from '../column-types.ts';
import { TIMESTAMP_COLUMN } from '../import-plan.ts';
import { noSuchTable } from '../table-error.ts';
import { METADATA, type LakeDatabase } from './database.ts';
import { tableKey, type LakeNames } from './names.ts';
import { catalogueSchema, type LakePlace } from './place.ts';
import type { LastImport, TableDefinition, TableId } from '../engine.ts';

/** A table as the catalogue has it at one version. */
export interface LakeTable extends Omit<TableDefinition, 'types'>, LakeState {
  /** As its columns were stored at that version. */
  readonly forms: ColumnForms;
  /** Number of the table in the catalogue. */
  readonly id: number;
  /** Number of the snapshot: rows are read `AT` it, so that they are those of this description. */
  readonly version: number;
  readonly rows: number;
  /** Bytes of its Parquet files. */
  readonly fileBytes: number;
  readonly files: number;
}

/** Numbers of the rows of one file: from `start` on and below `end`. */
export interface OrderedFile {
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
}

/** Facts about a table that each commit of it says, since DuckLake has no place for them. */
export interface LakeState {
  /** About the bytes of all values. */
  readonly bytes: number;
  /** The last import that has a mark. */
  readonly lastImport?: LastImport | undefined;
}

/** Reads DuckLake's own tables: one query and one round trip, where DuckDB would load the whole catalogue. */
export interface LakeCatalogue {
  /** @param at number of a snapshot; default: the newest */
  find(table: TableId, at?: number): Promise<LakeTable | undefined>;
  /** @throws TableError (`storage.tables.notFound`) */
  require(table: TableId, at?: number): Promise<LakeTable>;
  /** Returns the files whose rows are in the order of their numbers; files that were joined are not among them. */
  orderedFiles(table: LakeTable): Promise<readonly OrderedFile[]>;
  hasSchema(bucket: string): Promise<boolean>;
  hasTables(bucket: string): Promise<boolean>;
  /** Any query over the catalogue; `prefix` stands in front of the names of its tables. */
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
  readonly prefix: string;
}

/** Table with facts of commits whose snapshots were expired. */
export const SAID = 'gex_said';

export function createLakeCatalogue(
  place: LakePlace,
  database: () => LakeDatabase,
  names: LakeNames,
): LakeCatalogue {
  const prefix = place.kind === 'folder' ? `${METADATA}.main.` : `${quoted(catalogueSchema(place))}.`;
  const rows =
    place.kind === 'folder'
      ? async (sql: string) => await database().use((session) => session.rows(sql))
      : async (sql: string) => await queried(place.pool, sql);

  const count = async (sql: string): Promise<number> => Number((await rows(sql))[0]?.[0] ?? 0);

  const find = async (table: TableId, at?: number): Promise<LakeTable | undefined> => {
    // A version that is not kept any more has only some of its files.
    const which = at === undefined ? '' : ` WHERE snapshot_id = ${at}`;
    const newest = `(SELECT max(snapshot_id) FROM ${prefix}ducklake_snapshot${which})`;
    const [located] = await rows(
      `SELECT s.v, t.table_id FROM (SELECT ${newest} AS v) s, ${prefix}ducklake_table t, ${prefix}ducklake_schema b
       WHERE b.schema_id = t.schema_id AND b.schema_name = ${literal(names.schema(table.bucket))}
         AND t.table_name = ${literal(physicalTable(table.table))} AND ${seenAt('t', 's.v')} AND ${seenAt('b', 's.v')}`,
    );
    if (located === undefined) return undefined;
    // Numbers in place of columns of another table: DuckDB takes long to plan queries that depend on others.
    const [version = 0, id = 0] = located.map(Number);
    const seen = (alias: string): string => seenAt(alias, String(version));
    const key = literal(tableKey(table));
    const [row] = await rows(
      `SELECT
         (SELECT string_agg(c.column_name || ' ' || c.column_type, '|' ORDER BY c.column_order) FROM ${prefix}ducklake_column c
           WHERE c.table_id = ${id} AND c.parent_column IS NULL AND ${seen('c')}),
         (SELECT max(g.value) FROM ${prefix}ducklake_tag g WHERE g.object_id = ${id} AND g.key = 'comment' AND ${seen('g')}),
         f.records, f.bytes, f.files,
         -- what was deleted of a file that is gone since is still there
         (SELECT coalesce(sum(d.delete_count), 0) FROM ${prefix}ducklake_delete_file d, ${prefix}ducklake_data_file f
           WHERE d.data_file_id = f.data_file_id AND f.table_id = ${id} AND ${seen('d')} AND ${seen('f')}),
         (SELECT max(c.commit_extra_info) FROM ${prefix}ducklake_snapshot_changes c WHERE c.snapshot_id =
           (SELECT max(l.snapshot_id) FROM ${prefix}ducklake_snapshot_changes l
             WHERE split_part(l.commit_extra_info, '"', 4) = ${key} AND l.snapshot_id <= ${version})),
         (SELECT max(e.info) FROM ${prefix}${SAID} e WHERE e.key = ${key})
       FROM (SELECT coalesce(sum(f.record_count), 0) AS records, coalesce(sum(f.file_size_bytes), 0) AS bytes, count(*) AS files
         FROM ${prefix}ducklake_data_file f WHERE f.table_id = ${id} AND ${seen('f')}) f`,
    );
    if (row === undefined) return undefined;
    const [columns, comment, added, fileBytes, fileCount, deleted, info, earlier] = row;
    const records = Number(added) - Number(deleted);
    const state = stateOf(info ?? earlier);
    return {
      id,
      version,
      ...columnsOf(String(columns)),
      primaryKey: keyOf(comment),
      rows: records,
      fileBytes: Number(fileBytes),
      files: Number(fileCount),
      bytes: records === 0 ? 0 : Math.max(1, state?.bytes ?? Number(fileBytes)),
      ...(state?.lastImport === undefined ? {} : { lastImport: state.lastImport }),
    };
  };

  return {
    find,
    async require(table, at) {
      const found = await find(table, at);
      if (found !== undefined) return found;
      throw noSuchTable(table);
    },
    orderedFiles: async ({ id, version }) =>
      (
        await rows(
          `SELECT f.row_id_start, f.record_count, f.file_size_bytes FROM ${prefix}ducklake_data_file f
           WHERE f.table_id = ${id} AND f.row_id_start IS NOT NULL AND ${seenAt('f', String(version))}`,
        )
      ).map(([start, count, bytes]) => ({
        start: Number(start),
        end: Number(start) + Number(count),
        bytes: Number(bytes),
      })),
    hasSchema: async (bucket) =>
      (await count(
        `SELECT count(*) FROM ${prefix}ducklake_schema WHERE end_snapshot IS NULL AND schema_name = ${literal(names.schema(bucket))}`,
      )) > 0,
    hasTables: async (bucket) =>
      (await count(
        `SELECT count(*) FROM ${prefix}ducklake_table t, ${prefix}ducklake_schema b WHERE t.schema_id = b.schema_id
           AND t.end_snapshot IS NULL AND b.end_snapshot IS NULL AND b.schema_name = ${literal(names.schema(bucket))}`,
      )) > 0,
    rows,
    prefix,
  };
}

/** Condition that a row of the catalogue belongs to a version. */
function seenAt(alias: string, version: string): string {
  return `${alias}.begin_snapshot <= ${version} AND (${alias}.end_snapshot IS NULL OR ${alias}.end_snapshot > ${version})`;
}

async function queried(pool: Pool, text: string): Promise<readonly (readonly unknown[])[]> {
  return (await pool.query<unknown[]>({ text, rowMode: 'array' })).rows;
}

/** Types by the words of the catalogue; a column of any other one is a text. */
const STORED_TYPES: ReadonlyMap<string, NativeType> = new Map([
  ['boolean', 'boolean'],
  ['date', 'date'],
  ['decimal(38,9)', 'decimal'],
  ['float64', 'double'],
  ['int64', 'bigint'],
  ['timestamp', 'timestamp'],
  ['timestamptz', 'timestamptz'],
]);

/** Columns without the change time, as a user named them (see `columnIdentifier`), and how they are stored. */
function columnsOf(list: string): Pick<LakeTable, 'columns' | 'forms'> {
  const stored = list.split('|').map((described) => {
    const space = described.indexOf(' ');
    return { name: described.slice(0, space), type: STORED_TYPES.get(described.slice(space + 1)) };
  });
  const own = stored.filter(({ name }) => name !== TIMESTAMP_COLUMN && !name.endsWith(TEXT_SUFFIX));
  return {
    columns: own.map(({ name }) => shownName(name)),
    forms: {
      types: new Map(own.flatMap(({ name, type }) => (type === undefined ? [] : [[shownName(name), type]]))),
      texts: new Set(
        stored.filter(({ name }) => name.endsWith(TEXT_SUFFIX)).map(({ name }) => shownName(name)),
      ),
    },
  };
}

function shownName(stored: string): string {
  const [name = stored] = stored.split('~', 1);
  return name;
}

/** The comment of a table was written by `commentOn`, or by a person. */
function keyOf(comment: unknown): string[] {
  const text = typeof comment === 'string' ? comment : '';
  const key = /^Primary key: (?<key>\w+(?:, \w+)*)$/.exec(text)?.groups?.['key'];
  return key === undefined ? [] : key.split(', ');
}

/** Returns SQL that stores the primary key of a table, which DuckLake itself does not know, where everyone sees it. */
export function commentOn(table: string, primaryKey: readonly string[]): string {
  const comment = primaryKey.length === 0 ? 'NULL' : literal(`Primary key: ${primaryKey.join(', ')}`);
  return `COMMENT ON TABLE ${table} IS ${comment}`;
}

/** The text was written by `infoOf`. */
function stateOf(info: unknown): LakeState | undefined {
  return typeof info === 'string' ? (JSON.parse(info) as LakeState) : undefined;
}
