import { PaginationError } from '../../lib/errors.ts';
import { getKey, isInteger, isObject, numberOf, type Json } from '../../lib/json/index.ts';

/** Returns one key of a paginator's state. */
export function stateOf(state: Json, key: string): Json {
  const value = isObject(state) ? getKey(state, key) : undefined;
  if (value === undefined) throw foreign(key);
  return value;
}

/** Returns an integer of a paginator's state. */
export function integerOf(state: Json, key: string): number {
  const value = stateOf(state, key);
  if (!isInteger(value)) throw foreign(key);
  return numberOf(value);
}

function foreign(key: string): PaginationError {
  return new PaginationError('internal', `The saved position of the pagination has no usable \`${key}\`.`, {
    audience: 'application',
    hint: 'The position belongs to another configuration or version; start the run from the beginning.',
  });
}
