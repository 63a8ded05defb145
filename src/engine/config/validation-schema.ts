import type { OptionSchema } from '../../lib/option.ts';

/**
 * Returns the schema in the form that is compiled into the validator: without the texts for people, which only make it
 * longer, and with a choice between kinds (`oneOf` by `type`) written as "if this kind, then these keys", so that a
 * mistake is reported in its place and not once for each kind. Unknown keys are left to `unknown-keys.ts`.
 */
export function forValidation(schema: OptionSchema): OptionSchema {
  const out: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(keyword) || (keyword === 'additionalProperties' && value === false)) continue;
    if (MAPS.has(keyword)) out[keyword] = mapValues(value, forValidation);
    else if (keyword === 'oneOf' || keyword === 'anyOf')
      Object.assign(out, choice(keyword, branchesOf(value), out));
    else if (keyword === 'allOf')
      out['allOf'] = [...listOf(out['allOf']), ...branchesOf(value).map(forValidation)];
    else
      out[keyword] = isSchema(value) ? forValidation(value) : Array.isArray(value) ? value.map(deep) : value;
  }
  return out;
}

/** Returns the key of `oneOf` branches that identifies them: each branch requires the key and fixes its values. */
export function discriminatorOf(branches: readonly OptionSchema[]): string | undefined {
  const [first] = branches;
  if (first === undefined || branches.length < 2) return undefined;
  return Object.keys(propertiesOf(first)).find((key) =>
    branches.every((branch) => fixedValues(branch, key) !== undefined),
  );
}

/** The values that a branch admits for a key, where it lists them. */
export function fixedValues(branch: OptionSchema, key: string): readonly unknown[] | undefined {
  const property = propertiesOf(branch)[key];
  if (property === undefined) return undefined;
  if ('const' in property) return [property['const']];
  return Array.isArray(property['enum']) ? property['enum'] : undefined;
}

export function isSchema(value: unknown): value is OptionSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function propertiesOf(schema: OptionSchema): Readonly<Record<string, OptionSchema>> {
  const properties = schema['properties'];
  // a schema's properties are schemas
  return isSchema(properties) ? (properties as Readonly<Record<string, OptionSchema>>) : {};
}

/** The schemas of `oneOf`, `anyOf`, `allOf`. */
export function branchesOf(value: unknown): readonly OptionSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

const LEFT_OUT = new Set([
  'title',
  'description',
  'default',
  'examples',
  'format',
  'uniqueItems',
  '$comment',
  'deprecated',
]);
const MAPS = new Set(['properties', 'patternProperties', 'definitions']);

function choice(keyword: string, branches: readonly OptionSchema[], out: OptionSchema): OptionSchema {
  const key = discriminatorOf(branches);
  if (key === undefined) return { [keyword]: branches.map(forValidation) };
  const cases = branches.map((branch) => ({
    if: { required: [key], properties: { [key]: { enum: fixedValues(branch, key) } } },
    then: forValidation(branch),
  }));
  const all = branches.flatMap((branch) => fixedValues(branch, key) ?? []);
  const kinds = { properties: { [key]: { enum: [...new Set(all)] } } };
  const needsKey = branches.every((branch) => listOf(branch['required']).includes(key))
    ? { required: [key] }
    : {};
  const types = new Set(
    branches.flatMap((branch) => (branch['type'] === undefined ? [] : listOf(branch['type']))),
  );
  const type =
    types.size > 0 && branches.every((branch) => branch['type'] !== undefined) ? { type: [...types] } : {};
  return { allOf: [...listOf(out['allOf']), { ...type, ...kinds, ...needsKey }, ...cases] };
}

function deep(value: unknown): unknown {
  return isSchema(value) ? forValidation(value) : value;
}

function mapValues(value: unknown, change: (schema: OptionSchema) => OptionSchema): unknown {
  if (!isSchema(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, isSchema(item) ? change(item) : item]),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
