import {
  entriesOf,
  isList,
  isObject,
  JsonMap,
  JsonNumber,
  numberOf,
  type Json,
} from '../../lib/json/index.ts';
import { asList } from './normalise.ts';

/** Error of the compiled validator at one place. */
export interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The form of a compiled validator: its errors are kept on the function. */
export interface CompiledValidator {
  (data: unknown): boolean;
  errors?: readonly SchemaError[] | null;
}

/**
 * Returns the errors of a value by the schema. `{}` and `[]` are equivalent in a configuration, and an object with the
 * keys 0 … n-1 is a list: each is tried as the other kind if only that one is allowed.
 */
export function check(value: Json, validate: CompiledValidator): readonly SchemaError[] {
  // most values are valid as they are, and need no copy
  if (isPlain(value) && validate(value)) return [];
  const root = { value: plain(value) };
  const turned = new Set<string>();
  for (;;) {
    const errors = validate(root.value) ? [] : (validate.errors ?? []);
    if (!errors.some((error) => turn(root, error, turned))) return errors;
  }
}

/** Splits an `instancePath`, which is a JSON pointer (RFC 6901), into its keys. */
export function keysOfPointer(pointer: string): readonly string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Plain values, as the validator reads them. Objects have no prototype, so `__proto__` is a key like any other. */
type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

/** Tells whether the validator can read a value as it is. */
function isPlain(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (isList(value)) return value.every(isPlain);
  if (value instanceof JsonNumber || value instanceof JsonMap) return false;
  return Object.values(value).every(isPlain);
}

function plain(value: Json): Plain {
  if (isList(value)) return value.map(plain);
  if (isObject(value)) {
    const object = Object.create(null) as { [key: string]: Plain };
    for (const [key, item] of entriesOf(value)) object[key] = plain(item);
    return object;
  }
  return value instanceof JsonNumber ? numberOf(value) : value;
}

/** Replaces a value of the one kind by the other, in place; false when there is nothing to turn. */
function turn(root: { value: Plain }, error: SchemaError, turned: Set<string>): boolean {
  if (error.keyword !== 'type' || turned.has(error.instancePath)) return false;
  const keys = keysOfPointer(error.instancePath);
  const holder = keys.slice(0, -1).reduce<Plain | undefined>(childOf, root.value);
  const key = keys.at(-1);
  const value = key === undefined ? root.value : childOf(holder, key);
  const other = otherKind(value, error.params['type']);
  if (other === undefined) return false;
  turned.add(error.instancePath);
  if (key === undefined) root.value = other;
  else if (Array.isArray(holder)) holder[Number(key)] = other;
  else if (typeof holder === 'object' && holder !== null) holder[key] = other;
  return true;
}

function otherKind(value: Plain | undefined, expected: unknown): Plain | undefined {
  const types = Array.isArray(expected) ? expected : [expected];
  if (Array.isArray(value))
    return value.length === 0 && types.includes('object')
      ? (Object.create(null) as { [key: string]: Plain })
      : undefined;
  if (typeof value !== 'object' || value === null || !types.includes('array')) return undefined;
  return asList(value) === undefined ? undefined : Object.values(value);
}

function childOf(value: Plain | undefined, key: string): Plain | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return typeof value === 'object' && value !== null ? value[key] : undefined;
}
