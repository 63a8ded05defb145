import { PaginationError } from '../../lib/errors.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import { SettingsReader } from '../../lib/read-settings.ts';

/** Creates the error of a setting that cannot be used. `at` is the JSON path of the value. */
export function invalid(at: string, message: string, hint?: string): PaginationError {
  return new PaginationError('pagination.invalid', message, { where: { path: at }, hint });
}

export const read = new SettingsReader(invalid);

/** Reads a name or path that must be present and not empty. */
export function requiredText(node: AnyObject, key: string, at: string): string {
  const text = read.text(node, key, at);
  if (text !== undefined) return text;
  throw invalid(`${at}.${key}`, `\`${key}\` is missing.`, `Set \`${key}\` to a text that is not empty.`);
}
