import { ObjectError } from '../errors.ts';
import type { ObjectMeta } from '../folder/meta.ts';
import { header, type S3Call } from './call.ts';

/** Conditions of GET and HEAD, in the order of RFC 9110 section 13.2.2. */
export function checkReadConditions(call: S3Call, meta: ObjectMeta, prefix = ''): void {
  const ifMatch = header(call, `${prefix}if-match`);
  const ifNoneMatch = header(call, `${prefix}if-none-match`);
  const modified = Math.floor(Date.parse(meta.modified) / 1000) * 1000;
  const isAfter = (name: string): boolean | undefined => {
    const time = Date.parse(header(call, name) ?? '');
    return Number.isNaN(time) ? undefined : modified > time;
  };
  if (ifMatch === undefined ? isAfter(`${prefix}if-unmodified-since`) === true : !matches(ifMatch, meta))
    throw failed(ifMatch === undefined ? 'If-Unmodified-Since' : 'If-Match');
  if (
    ifNoneMatch === undefined ? isAfter(`${prefix}if-modified-since`) === false : matches(ifNoneMatch, meta)
  ) {
    if (prefix !== '') throw failed('If-None-Match');
    throw new ObjectError('NotModified', 'Not modified.', { facts: { ETag: `"${meta.etag}"` } });
  }
}

/** Conditions of a write, to be checked when nothing can come between: `If-None-Match: *` and `If-Match`. */
export function writeCondition(call: S3Call): ((current: ObjectMeta | undefined) => void) | undefined {
  const ifMatch = header(call, 'if-match');
  const ifNoneMatch = header(call, 'if-none-match');
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return (current) => {
    if (ifNoneMatch !== undefined && current !== undefined && matches(ifNoneMatch, current))
      throw failed('If-None-Match');
    if (ifMatch === undefined) return;
    if (current === undefined) throw new ObjectError('NoSuchKey', 'There is no object to match.');
    if (!matches(ifMatch, current)) throw failed('If-Match');
  };
}

/** Tells whether `If-Range` lets the range count. */
export function rangeCounts(call: S3Call, meta: ObjectMeta): boolean {
  const value = header(call, 'if-range');
  if (value === undefined) return true;
  if (value.startsWith('"')) return matches(value, meta);
  return Math.floor(Date.parse(meta.modified) / 1000) * 1000 === Date.parse(value);
}

function matches(list: string, { etag }: ObjectMeta): boolean {
  return list.split(',').some((item) => {
    const text = item.trim().replace(/^W\//, '');
    return text === '*' || text.replaceAll('"', '') === etag;
  });
}

function failed(condition: string): ObjectError {
  return new ObjectError(
    'PreconditionFailed',
    'At least one of the pre-conditions you specified did not hold.',
    {
      facts: { Condition: condition },
    },
  );
}
