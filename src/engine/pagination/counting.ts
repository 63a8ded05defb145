import type { JobRequest } from '../shared/message.ts';
import { getKey, isEmpty, type AnyObject, type Json } from '../../lib/json/index.ts';
import type { Place } from '../language/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import { mustBeIn } from './language.ts';
import type { MethodContext, Observation } from './paginator.ts';
import { emptyPageOf } from './stops/empty-page.ts';
import { invalid } from './pagination-settings.ts';

/** A place, its value, and the key that names it. */
export interface Filled {
  readonly place: Place | undefined;
  readonly key: string;
  readonly value: Json | undefined;
}

/** Returns the request with the values at their places; a place without a value is left out. */
export function filled(request: JobRequest, all: readonly Filled[]): JobRequest {
  return all.reduce(
    (made, { place, value }) =>
      place === undefined ? made : value === undefined ? place.blank(made) : place.put(made, value),
    request,
  );
}

/** @throws {PaginationError} when a place is not in the request, or two are one */
export function checkPlaces(
  all: readonly Omit<Filled, 'value'>[],
  request: JobRequest,
  { at, written }: MethodContext,
): void {
  const seen = new Map<string, string>();
  for (const { place, key } of all) {
    if (place === undefined) continue;
    mustBeIn(place, written ?? request, `${at}.${key}`);
    const other = seen.get(place.text);
    if (other !== undefined)
      throw invalid(
        `${at}.${key}`,
        `\`${key}\` and \`${other}\` are one place: ${place.text}.`,
        'One would replace the other. Name two places.',
      );
    seen.set(place.text, key);
  }
}

/** Tells whether an empty or short page is the last one. */
export function lastPage(
  options: AnyObject,
  at: string,
): (page: Observation, size?: number) => Reason | undefined {
  if (emptyPageOf(options, at) === 'goOn') {
    if (!ENDS.some((key) => !isEmpty(getKey(options, key))))
      throw invalid(
        `${at}.emptyPage`,
        'Where neither an empty nor a short page is the last one, nothing ends the job.',
        'Say what does: `stopWhen`, `nextPageFlag`, `limitStop` or `forceStop`.',
      );
    return () => undefined;
  }
  return ({ rows }, size) => {
    if (size !== undefined && rows < size) return { code: 'shortPage', rows, size };
    return rows === 0 ? { code: 'noRows' } : undefined;
  };
}

const ENDS = ['stopWhen', 'nextPageFlag', 'limitStop', 'forceStop'];
