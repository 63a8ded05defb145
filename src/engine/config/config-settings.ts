import { ConfigError } from '../../lib/errors.ts';
import { isInteger, numberOf, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import { SettingsReader } from '../../lib/read-settings.ts';

/** Creates the error of a value that a run cannot use. `at` is its JSON path. */
export function invalid(at: string, message: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path: at }, hint });
}

export const read = new SettingsReader(invalid);

/** Warning about a setting that works, but should be written differently. */
export interface ConfigWarning {
  readonly message: string;
  readonly path: string;
}

export const EMPTY: AnyObject = objectOf([]);

/** Returns a whole number, from a number or digits. */
export function wholeOf(value: Json | undefined): number | undefined {
  if (isInteger(value)) return numberOf(value);
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : undefined;
}
