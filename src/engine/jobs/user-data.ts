import { isList, type AnyObject, type Json } from '../../lib/json/index.ts';
import { asObject } from '../../lib/read-settings.ts';

/**
 * Reads user data as a map of columns: a scalar becomes the one column `column`. Nothing set, null, an empty text and
 * an empty map are none; 0 and false are values.
 */
export function readUserData(node: Json | undefined, column: string): AnyObject | undefined {
  if (node === undefined || node === null || node === '') return undefined;
  if (isList(node) && node.length === 0) return undefined;
  return asObject(node) ?? { [column]: node };
}
