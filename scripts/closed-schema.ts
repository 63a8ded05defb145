import type { OptionSchema } from '../src/lib/option.ts';
import { isSchema, propertiesOf } from '../src/engine/config/validation-schema.ts';

/**
 * A schema for editors: an object that lists its keys has no others, so that a misspelled one is underlined while it is
 * written. The program itself passes over keys that it does not know, and `gex validate` tells of them.
 *
 * Left open is what says so (`additionalProperties`), what is put together of several schemas, where each would refuse
 * the keys of the others, and the documents, to which platforms add keys of their own.
 */
export function closedSchema(schema: OptionSchema, isPart = false): OptionSchema {
  const inside = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      CONDITIONS.has(key) ? value : closedValue(value, PARTS.has(key)),
    ]),
  );
  const isOpen = isPart || 'additionalProperties' in schema || MIXING.some((key) => key in schema);
  const properties = propertiesOf(schema);
  const isDocument = DOCUMENTS.some((key) => key in properties);
  const hasKeys = Object.keys(properties).length > 0;
  return hasKeys && !isOpen && !isDocument ? { ...inside, additionalProperties: false } : inside;
}

/** They ask what a value is like, and do not describe it. */
const CONDITIONS: ReadonlySet<string> = new Set([
  'if',
  'not',
  'required',
  'examples',
  'default',
  'enum',
  'const',
]);
/** They describe a value together with others. */
const PARTS: ReadonlySet<string> = new Set(['then', 'else', 'allOf']);
const MIXING = ['allOf', 'anyOf', 'oneOf', '$ref'] as const;
const DOCUMENTS = ['parameters', 'configuration', 'isDisabled'] as const;

function closedValue(value: unknown, isPart: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => closedValue(item, isPart));
  return isSchema(value) ? closedSchema(value, isPart) : value;
}
