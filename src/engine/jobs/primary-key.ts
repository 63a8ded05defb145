import { getKey, isEmpty, isList, isNumber, toText, type AnyObject } from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { jobError } from './read-job.ts';

/**
 * Reads `primaryKey`: the fields of a row, or the columns, that tell it from all others.
 *
 * @param at JSON path of the job
 * @throws {JobError} for what is no name, and for one that comes twice
 */
export function readPrimaryKey(node: AnyObject, at: string): readonly string[] | undefined {
  const value = getKey(node, 'primaryKey');
  if (value === undefined || isEmpty(value)) return undefined;
  const place = `${at}.primaryKey`;
  const names = (isList(value) ? value : [value]).map((item, i) => {
    if ((typeof item === 'string' && item !== '') || isNumber(item)) return toText(item);
    throw jobError(
      isList(value) ? `${place}[${i}]` : place,
      `A primary key is a path or a list of paths, and here is ${item === '' ? 'an empty text' : kindOf(item)}`,
      'Write "id", or ["account.id", "date"].',
    );
  });
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return Object.freeze(names);
  throw jobError(place, `“${twice}” stands twice in the primary key`, 'Leave one of them out.');
}
