import type { AnyObject } from '../../lib/json/index.ts';
import { check, type SchemaError } from './check.ts';
import { validate } from './validator.generated.ts';

/**
 * What the schema of a component configuration has against one, in the validator's words; empty when it is fine.
 * Fast enough for every start: the validator was compiled beforehand.
 */
export function schemaErrors(configuration: AnyObject): readonly SchemaError[] {
  return check(configuration, validate);
}

/** True when the schema has nothing against a configuration. For the reasons ask `validateConfig`. */
export function isValid(configuration: AnyObject): boolean {
  return schemaErrors(configuration).length === 0;
}
