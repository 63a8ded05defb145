import type { AnyObject } from '../../lib/json/index.ts';
import { check, type SchemaError } from './check.ts';
import { validate } from './validator.generated.ts';

/**
 * Returns the errors of a component configuration by its schema, in the validator's words; empty when it is valid. Fast
 * enough for every start: the validator was compiled beforehand.
 */
export function schemaErrors(configuration: AnyObject): readonly SchemaError[] {
  return check(configuration, validate);
}

/** Tells whether a configuration is valid by the schema. `validateConfig` gives the reasons. */
export function isValid(configuration: AnyObject): boolean {
  return schemaErrors(configuration).length === 0;
}
