import {
  getKey,
  isList,
  isObject,
  JsonNumber,
  withKey,
  type AnyObject,
  type Json,
} from '../../lib/json/value.ts';
import { StorageError } from '../../lib/errors.ts';

/** Fields that must be there, of these kinds. `id` is text, `number` an integer; each is also read from the other. */
type Fields<T> = Readonly<Partial<Record<keyof T & string, ShapeKind>>>;
type ShapeKind = 'boolean' | 'id' | 'list' | 'number' | 'object' | 'string';

/**
 * Returns the answer as the type that the protocol gives it, after a check of the fields that this client uses.
 * Services
 * differ in which ids are numbers and which are text; the caller gets the kind that the type says.
 *
 * @throws {StorageError} `storage.unexpected`, naming the field that is missing
 */
export function shaped<T>(value: Json | undefined, what: string, fields: Fields<T>): T {
  if (value === undefined || !isObject(value)) throw unexpected(what, 'is no object');
  let object: AnyObject = value;
  for (const [name, kind] of Object.entries<ShapeKind | undefined>(fields)) {
    if (kind === undefined) continue;
    const found = getKey(value, name);
    const read = readAs(kind, found);
    if (read === undefined) throw unexpected(what, `has no ${kind} “${name}”`);
    if (read !== found) object = withKey(object, name, read);
  }
  return object as T; // a service that speaks the protocol sends the other fields too
}

export function listOf<T>(value: Json | undefined, what: string, fields: Fields<T>): T[] {
  if (value === undefined || !isList(value)) throw unexpected(`list of ${what}s`, 'is no list');
  return value.map((item) => shaped<T>(item, what, fields));
}

/** The value as that kind; undefined when it is of another. */
function readAs(kind: ShapeKind, value: Json | undefined): Json | undefined {
  if (kind === 'list') return isList(value) ? value : undefined;
  if (kind === 'object') return isObject(value) ? value : undefined;
  if (kind === 'id' && value instanceof JsonNumber) return value.literal;
  if (kind === 'id' && typeof value === 'number') return String(value);
  if (kind === 'number' && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  const type = kind === 'id' ? 'string' : kind;
  return typeof value === type ? value : undefined;
}

function unexpected(what: string, problem: string): StorageError {
  return new StorageError('storage.unexpected', `The answer of the storage service ${problem}: ${what}.`, {
    hint: 'Check that the address is that of a storage service, and its version.',
  });
}
