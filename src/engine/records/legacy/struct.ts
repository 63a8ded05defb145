import type { Log } from '../../../lib/log.ts';
import { childrenOf, isEmpty, objectOf, type Json } from '../../../lib/json/index.ts';

/** The version beside the struct in the state file. */
export const LEGACY_STRUCT_VERSION = 2;

const KINDS = ['scalar', 'object', 'NULL', 'arrayOfscalar', 'arrayOfobject', 'arrayOfNULL'] as const;
/** Kind of a property. `NULL` is not known yet: only nulls and empty lists were seen. */
export type LegacyKind = (typeof KINDS)[number];

/** Property to kind, in the order they were first seen. */
export type LegacyProperties = Map<string, LegacyKind>;

/** Types by dotted name: a data type, or the type around it and the property (`users`, `users.tags`). */
export type LegacyStruct = Map<string, LegacyProperties>;

/**
 * Reads the struct of a state file: `{"users": {"id": "scalar", "tags": "arrayOfscalar"}, "users.tags": {"data":
 * "scalar"}}`. One that is not of this form is left out with a warning.
 */
export function readStruct(stored: Json | undefined, log: Log): LegacyStruct {
  if (isEmpty(stored)) return new Map();
  const struct = structFrom(stored);
  if (struct === undefined)
    log.warn('The columns stored in the state file are not of a known form: they are left out');
  return struct ?? new Map();
}

function structFrom(stored: Json | undefined): LegacyStruct | undefined {
  const types = childrenOf(stored)?.map(([type, properties]) => [type, childrenOf(properties)] as const);
  const struct: LegacyStruct = new Map();
  for (const [type, kinds] of types ?? []) {
    if (kinds === undefined || !kinds.every(isKnown)) return undefined;
    struct.set(type, new Map(kinds));
  }
  return types === undefined ? undefined : struct;
}

/** Returns the structure in the form of the state file; undefined when nothing is known. */
export function writeStruct(struct: LegacyStruct): Json | undefined {
  if (struct.size === 0) return undefined;
  return objectOf([...struct].map(([type, properties]) => [type, objectOf(properties)]));
}

function isKnown(entry: [string, Json]): entry is [string, LegacyKind] {
  return KINDS.some((kind) => kind === entry[1]);
}
