import type { ColumnType } from './column-type.ts';

/** A column as the manifest of its table says it. */
interface ManifestColumnWords {
  readonly name: string;
  readonly base: string;
  readonly type: string;
  readonly length?: string;
}

/** Types by the words of manifests: one that all databases know, and the exact one. */
const WORDS: Readonly<Record<ColumnType, Omit<ManifestColumnWords, 'name'>>> = {
  text: { base: 'STRING', type: 'VARCHAR' },
  boolean: { base: 'BOOLEAN', type: 'BOOLEAN' },
  bigint: { base: 'INTEGER', type: 'BIGINT' },
  double: { base: 'FLOAT', type: 'DOUBLE' },
  'decimal(38,9)': { base: 'NUMERIC', type: 'DECIMAL', length: '38,9' },
  date: { base: 'DATE', type: 'DATE' },
  timestamp: { base: 'TIMESTAMP', type: 'TIMESTAMP' },
  timestamptz: { base: 'TIMESTAMP', type: 'TIMESTAMPTZ' },
  json: { base: 'STRING', type: 'JSON' },
};

export function manifestColumn(name: string, type: ColumnType): ManifestColumnWords {
  return { name, ...WORDS[type] };
}
