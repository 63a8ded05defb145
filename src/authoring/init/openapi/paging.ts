import { getKey, objectOf, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { numericOf } from '../../../lib/read-settings.ts';
import type { Candidate } from '../candidate.ts';
import { candidatesOf } from '../candidates.ts';
import { isOffsetName, isPageName, isSizeName } from '../guesses.ts';
import { signOf, signsOf } from '../signs.ts';
import type { FoundRequest } from '../target.ts';
import type { ListOperation, OperationParameter } from './operations.ts';

/** How the pages of a list follow each other, by its parameters and the shape of its answers. */
export interface Paging {
  readonly pagination: AnyObject | undefined;
  /** Parameters of the job that belong to it. */
  readonly params: AnyObject;
  readonly says: string;
}

/** Rows asked for at once where the document allows it. */
const SIZE_WANTED = 100;

/**
 * Returns the pagination that a document describes, without a trial: a parameter counts when the document has it, and a
 * link or a token when the answer has it. Pure.
 */
export function pagingOf(
  { parameters, sample, place, headers }: ListOperation,
  target: FoundRequest,
): Paging {
  const query = parameters.filter((parameter) => parameter.place === 'query');
  const known = new Set(query.map(({ name }) => name));
  const signs = signsOf(
    sample,
    place,
    headers.includes('link') ? { link: '<https://example.com/next>; rel="next"' } : {},
  );
  const size = query.find(({ name }) => isSizeName(name));
  const rows = sizeOf(size);
  const candidates = candidatesOf({
    target,
    signs,
    rows: rows ?? SIZE_WANTED,
    id: undefined,
    lastId: undefined,
    body: sample,
  });
  const followed = candidates.find((one) => isFollowed(one, known));
  if (followed !== undefined) {
    const includeParams = followed.kind === 'token' && size !== undefined ? { includeParams: true } : {};
    return {
      pagination: { ...followed.pagination, ...includeParams },
      params: sized(size, rows),
      says: followed.says,
    };
  }
  const page = query.find((parameter) => isPageName(parameter.name) && isNumber(parameter));
  if (page !== undefined) {
    const first = numericOf(page.value) === 0 || numericOf(getKey(page.schema, 'minimum')) === 0 ? 0 : 1;
    return {
      pagination: {
        method: 'pagenum',
        ...(page.name === 'page' ? {} : { pageParam: page.name }),
        ...(first === 1 ? {} : { firstPage: first }),
      },
      params: sized(size, rows),
      says: `page numbers from ${first} in \`${page.name}\``,
    };
  }
  const offset = query.find((parameter) => isOffsetName(parameter.name) && isNumber(parameter));
  if (offset !== undefined && size !== undefined)
    return {
      pagination: {
        method: 'offset',
        limit: rows ?? SIZE_WANTED,
        ...(size.name === 'limit' ? {} : { limitParam: size.name }),
        ...(offset.name === 'offset' ? {} : { offsetParam: offset.name }),
      },
      params: {},
      says: `rows to skip in \`${offset.name}\``,
    };
  const more = signOf(signs, 'more') !== undefined || signOf(signs, 'total') !== undefined;
  return {
    pagination: undefined,
    params: {},
    says:
      query.length === 0 && !more ? 'one page' : 'one page: the document names no parameter for the next one',
  };
}

function isFollowed({ kind, pagination }: Candidate, known: ReadonlySet<string>): boolean {
  if (kind === 'link' || kind === 'url') return true;
  const param = getKey(pagination, 'queryParam');
  return kind === 'token' && typeof param === 'string' && known.has(param);
}

function isNumber({ schema }: OperationParameter): boolean {
  const type = getKey(schema, 'type');
  return (
    type === undefined || JSON.stringify(type).includes('integer') || JSON.stringify(type).includes('number')
  );
}

/** Returns the largest page that is allowed, up to the size that is wanted. */
function sizeOf(size: OperationParameter | undefined): number | undefined {
  if (size === undefined) return undefined;
  const most = numericOf(getKey(size.schema, 'maximum'));
  if (most !== undefined && most >= 1) return Math.min(most, SIZE_WANTED);
  return numericOf(size.value);
}

function sized(size: OperationParameter | undefined, rows: number | undefined): AnyObject {
  const value: Json | undefined = rows;
  return size === undefined || value === undefined ? {} : objectOf([[size.name, value]]);
}
