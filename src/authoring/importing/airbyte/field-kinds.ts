import { get, isMap, isSequence, type ManifestNode } from './node.ts';

/** Returns the types that a schema names, those of its branches among them. */
function typesOf(schema: ManifestNode | undefined): readonly string[] {
  if (!isMap(schema)) return [];
  const { type } = schema;
  const own = (isSequence(type) ? type : [type]).filter((each) => typeof each === 'string');
  const branches = ['oneOf', 'anyOf'].flatMap((word) => {
    const listed = schema[word];
    return isSequence(listed) ? listed : [];
  });
  return [...own, ...branches.flatMap(typesOf)];
}

/** Type of a field by the schema of a stream; a text with a format, such as a time, is `formatted`. */
export type SchemaKind = 'text' | 'formatted' | 'list' | 'object' | 'number' | 'boolean' | 'null' | 'other';

const KINDS: Readonly<Record<string, SchemaKind>> = {
  array: 'list',
  object: 'object',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * Returns what the value of a field may be, by the schema of its records.
 *
 * @returns undefined where the schema does not say it
 */
export function kindsOf(
  records: ManifestNode | undefined,
  keys: readonly (string | number)[],
): ReadonlySet<SchemaKind> | undefined {
  const schema = keys.reduce((node, key) => get(get(node, 'properties'), String(key)), records);
  const types = typesOf(schema);
  if (types.length === 0) return undefined;
  const isFormatted = typeof get(schema, 'format') === 'string';
  return new Set(
    types.map((type) => {
      if (type === 'string') return isFormatted ? 'formatted' : 'text';
      return (Object.hasOwn(KINDS, type) ? KINDS[type] : undefined) ?? 'other';
    }),
  );
}
