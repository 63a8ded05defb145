import { getKey, isList, isObject, type Json } from '../../json/index.ts';
import { StorageError } from '../../errors.ts';

/** Fields that must be there, of these kinds. */
type Fields<T> = Readonly<Partial<Record<keyof T & string, Kind>>>;
type Kind = 'boolean' | 'list' | 'number' | 'object' | 'string';

/**
 * The answer as the type that the protocol gives it, after a look at the fields that this client itself goes by.
 *
 * @throws {StorageError} `storage.unexpected`, naming the field that is missing
 */
export function shaped<T>(value: Json | undefined, what: string, fields: Fields<T>): T {
  if (value === undefined || !isObject(value)) throw unexpected(what, 'is no object');
  for (const [name, kind] of Object.entries<Kind | undefined>(fields)) {
    if (kindOf(getKey(value, name)) !== kind) throw unexpected(what, `has no ${kind ?? 'field'} “${name}”`);
  }
  return value as T; // a service that speaks the protocol sends the other fields too
}

export function listOf<T>(value: Json | undefined, what: string, fields: Fields<T>): T[] {
  if (value === undefined || !isList(value)) throw unexpected(`list of ${what}s`, 'is no list');
  return value.map((item) => shaped<T>(item, what, fields));
}

function kindOf(value: Json | undefined): string {
  if (value !== undefined && isList(value)) return 'list';
  return value === null ? 'null' : typeof value;
}

function unexpected(what: string, problem: string): StorageError {
  return new StorageError('storage.unexpected', `The answer of the storage service ${problem}: ${what}.`, {
    hint: 'Check that the address is that of a storage service, and its version.',
  });
}
