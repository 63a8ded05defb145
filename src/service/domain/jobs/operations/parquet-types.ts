import { columnName } from '../../../../lib/names.ts';
import type { StoredDefinition } from '../../../stores/metadata/stored-tables.ts';
import type { ParquetColumn } from '../../../stores/tables/parquet/read.ts';

/** Definitions by the types of a Parquet file; any other one is a text. */
const TYPES: Readonly<Record<string, readonly [type: string, basetype: string]>> = {
  BOOLEAN: ['BOOLEAN', 'BOOLEAN'],
  TINYINT: ['INTEGER', 'INTEGER'],
  SMALLINT: ['INTEGER', 'INTEGER'],
  INTEGER: ['INTEGER', 'INTEGER'],
  BIGINT: ['INTEGER', 'INTEGER'],
  UTINYINT: ['INTEGER', 'INTEGER'],
  USMALLINT: ['INTEGER', 'INTEGER'],
  UINTEGER: ['INTEGER', 'INTEGER'],
  FLOAT: ['FLOAT', 'FLOAT'],
  DOUBLE: ['FLOAT', 'FLOAT'],
  DATE: ['DATE', 'DATE'],
  TIMESTAMP: ['TIMESTAMP', 'TIMESTAMP'],
  TIMESTAMP_S: ['TIMESTAMP', 'TIMESTAMP'],
  TIMESTAMP_MS: ['TIMESTAMP', 'TIMESTAMP'],
  TIMESTAMP_NS: ['TIMESTAMP', 'TIMESTAMP'],
  'TIMESTAMP WITH TIME ZONE': ['TIMESTAMPTZ', 'TIMESTAMP'],
  JSON: ['JSON', 'STRING'],
};

/** Digits of an unsigned number of 64 bits. */
const UNSIGNED = '20,0';

/**
 * Returns the definitions of the columns of a table for those of a Parquet file, by their names in the table. Lists,
 * structures and maps are JSON.
 */
export function definitionsOf(columns: readonly ParquetColumn[]): ReadonlyMap<string, StoredDefinition> {
  return new Map(columns.map(({ name, type, isNested }) => [columnName(name), definitionOf(type, isNested)]));
}

function definitionOf(type: string, isNested: boolean): StoredDefinition {
  const length = type === 'UBIGINT' ? UNSIGNED : /^DECIMAL\((\d+,\d+)\)$/.exec(type)?.[1];
  if (length !== undefined)
    return { definition: JSON.stringify({ type: 'NUMERIC', length }), basetype: 'NUMERIC' };
  const [word, basetype] = (isNested ? TYPES['JSON'] : TYPES[type]) ?? ['STRING', 'STRING'];
  return { definition: JSON.stringify({ type: word }), basetype };
}
