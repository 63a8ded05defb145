import type { TSchema } from 'typebox';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  JsonNumber,
  keysOf,
  numberOf,
  type Json,
} from '../../../lib/json/index.ts';
import type { FieldError } from '../../../storage/protocol/error.ts';
import { InvalidRequest } from '../../domain/api-error.ts';

/** Parts of JSON Schema that requests use. */
interface FieldSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly enum?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: boolean | FieldSchema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Reads the fields of a body or query by their schema. Clients send the same value as JSON, form or query text: `"7"`
 * is an integer where one is asked for, `True` a boolean, null is "not sent" unless the schema has a null, further
 * fields are ignored. A field without a type is returned unchanged.
 *
 * @throws {InvalidRequest} naming every wrong field
 */
export function readFields(schema: TSchema, input: Json | undefined): Readonly<Record<string, unknown>> {
  const errors: FieldError[] = [];
  const fields = readObject(schema, isObject(input) ? input : {}, '', errors);
  if (errors.length > 0) throw new InvalidRequest(errors);
  return fields;
}

/** Message about a wrong value: what it should have been. */
class Wrong {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

function readObject(
  schema: FieldSchema,
  input: Exclude<Json, null | boolean | number | string>,
  path: string,
  errors: FieldError[],
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const key = path === '' ? name : `${path}[${name}]`;
    const value = isObject(input) ? getKey(input, name) : undefined;
    if (value === null && field.anyOf?.some(({ type }) => type === 'null') === true) {
      fields[name] = null;
      continue;
    }
    if (value === undefined || value === null) {
      if (schema.required?.includes(name)) errors.push({ key, message: 'This field is missing.' });
      continue;
    }
    const read = readValue(field, value, key, errors);
    if (read instanceof Wrong) errors.push({ key, message: read.message });
    else fields[name] = read;
  }
  return fields;
}

function readValue(schema: FieldSchema, value: Json, key: string, errors: FieldError[]): unknown {
  if (schema.anyOf !== undefined) return readAny(schema.anyOf, value, key);
  if (schema.enum !== undefined) return readText(schema, value);
  switch (schema.type) {
    case 'string':
      return readText(schema, value);
    case 'boolean':
      return readBoolean(value);
    case 'integer':
      return readInteger(schema, value);
    case 'array':
      return readList(schema, value, key, errors);
    case 'object':
      return readMap(schema, value, key, errors);
    default:
      return value;
  }
}

function readAny(choices: readonly FieldSchema[], value: Json, key: string): unknown {
  let wrong: unknown;
  for (const choice of choices) {
    const found: FieldError[] = [];
    const read = readValue(choice, value, key, found);
    if (!(read instanceof Wrong) && found.length === 0) return read;
    wrong ??= read instanceof Wrong ? read : new Wrong(found[0]?.message ?? 'This value is not valid.');
  }
  return wrong;
}

function readText(schema: FieldSchema, value: Json): string | Wrong {
  const text =
    typeof value === 'number' ? String(value) : value instanceof JsonNumber ? value.literal : value;
  if (typeof text !== 'string') return new Wrong('This value should be of type string.');
  if (schema.enum !== undefined && !schema.enum.includes(text))
    return new Wrong(`This value should be one of: ${schema.enum.join(', ')}.`);
  if (schema.minLength !== undefined && text.trim().length < schema.minLength)
    return new Wrong('This value should not be blank.');
  if (schema.maxLength !== undefined && text.length > schema.maxLength)
    return new Wrong(`This value is too long. It should have ${schema.maxLength} characters or less.`);
  return text;
}

const TRUE = new Set<Json>([true, 1, '1', 'true', 'True', 'TRUE']);
const FALSE = new Set<Json>([false, 0, '0', '', 'false', 'False', 'FALSE']);

function readBoolean(value: Json): boolean | Wrong {
  if (TRUE.has(value)) return true;
  return FALSE.has(value) ? false : new Wrong('This value should be of type boolean.');
}

function readInteger(schema: FieldSchema, value: Json): number | Wrong {
  const number =
    typeof value === 'number' || value instanceof JsonNumber
      ? numberOf(value)
      : typeof value === 'string' && /^\s*-?\d+\s*$/.test(value)
        ? Number(value)
        : Number.NaN;
  if (!Number.isSafeInteger(number)) return new Wrong('This value should be of type integer.');
  if (schema.minimum !== undefined && number < schema.minimum)
    return new Wrong(`This value should be greater than or equal to ${schema.minimum}.`);
  if (schema.maximum !== undefined && number > schema.maximum)
    return new Wrong(`This value should be less than or equal to ${schema.maximum}.`);
  return number;
}

function readList(schema: FieldSchema, value: Json, key: string, errors: FieldError[]): unknown[] | Wrong {
  const items = listOf(value);
  if (items === undefined) return new Wrong('This value should be of type array.');
  return items.map((item, index) => readItem(schema.items ?? {}, item, `${key}[${index}]`, errors));
}

/** Reads a list; forms with gaps in their indices give an object of numbers. */
function listOf(value: Json): readonly Json[] | undefined {
  if (isList(value)) return value;
  if (isObject(value) && keysOf(value).every((key) => /^\d+$/.test(key)))
    return entriesOf(value).map(([, item]) => item);
  return undefined;
}

function readMap(schema: FieldSchema, value: Json, key: string, errors: FieldError[]): unknown {
  // Clients in PHP write an empty object as `[]`.
  const map = isList(value) && value.length === 0 ? {} : value;
  if (!isObject(map)) return new Wrong('This value should be of type object.');
  if (schema.properties !== undefined) return readObject(schema, map, key, errors);
  const values =
    Object.values(schema.patternProperties ?? {})[0] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {});
  return Object.fromEntries(
    entriesOf(map)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, readItem(values, item, `${key}[${name}]`, errors)]),
  );
}

function readItem(schema: FieldSchema, item: Json, key: string, errors: FieldError[]): unknown {
  const read = readValue(schema, item, key, errors);
  if (!(read instanceof Wrong)) return read;
  errors.push({ key, message: read.message });
  return undefined;
}
