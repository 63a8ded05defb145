import type { Schema } from './document.ts';

/** Values that make an example look like one, by the name of the field. */
const KNOWN: Readonly<Record<string, unknown>> = {
  branch: 'default',
  bucket: 'in.c-main',
  changedSince: '-2 days',
  column: 'name',
  columnNames: ['First name'],
  columns: ['id', 'name'],
  component: 'ex-generic-v2',
  componentId: 'ex-generic-v2',
  configuration: 'shop',
  configurationId: 'shop',
  dataFileId: 1234,
  definition: { type: 'VARCHAR', length: '255' },
  description: 'What it is for',
  displayName: 'Users',
  file: 1234,
  id: 1234,
  job: 1234,
  message: 'Done',
  metadata: [{ key: 'owner', value: 'Ann' }],
  name: 'users',
  primaryKey: 'id',
  primaryKeysNames: ['id'],
  provider: 'user',
  query: 'users',
  recipientEmail: 'ann@example.com',
  row: 'row-1',
  rowId: 'row-1',
  runWithTokenId: 1234,
  stage: 'in',
  state: {},
  table: 'in.c-main.users',
  tableId: 'in.c-main.users',
  tableIds: ['in.c-main.users'],
  tag: 'monthly',
  tags: ['monthly'],
  targetConfigId: 'shop-2',
  token: 1234,
  version: 1,
};

/** A value that fits the schema of a field. */
export function sampleOf(schema: Schema, name = '', depth = 0): unknown {
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  const other = schema.anyOf?.find(({ type }) => type !== 'null');
  if (other !== undefined) return sampleOf(other, name, depth);
  const known = KNOWN[name];
  if (known !== undefined && fits(known, schema)) return known;
  if (schema.default !== undefined) return schema.default;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return schema.items === undefined || depth > MAX_DEPTH ? [] : [sampleOf(schema.items, '', depth + 1)];
    case 'object':
      return depth > MAX_DEPTH ? {} : sampleObject(schema, depth);
    case 'null':
      return null;
    default:
      return '…';
  }
}

const MAX_DEPTH = 3;

function sampleObject({ properties = {} }: Schema, depth: number): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, sampleOf(schema, name, depth + 1)]),
  );
}

/** The part of a path in braces, as an example. */
export function samplePart(name: string, path: string): string {
  if (name === '*') return path.includes('/tags/') ? 'monthly' : '1';
  if (name === 'column' && path.startsWith('/v2/storage/columns/')) return 'in.c-main.users.name';
  const known = KNOWN[name];
  return typeof known === 'string' || typeof known === 'number' ? String(known) : '1234';
}

function fits(value: unknown, { type, items }: Schema): boolean {
  if (type === undefined) return true;
  if (type === 'integer' || type === 'number') return typeof value === 'number';
  if (type === 'array') return Array.isArray(value) && value.every((item) => fits(item, items ?? {}));
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}
