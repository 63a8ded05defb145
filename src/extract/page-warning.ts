import type { Reason, ReasonCode } from '../reason.ts';
import type { Page } from '../records/page.ts';

/** An empty list is how many methods find their end: behind a page with rows, it is nothing to warn about. */
export function warningLevel(page: Page, number: number, end: Reason | undefined): 'warn' | 'debug' {
  const isEmptyList = page.rows === 0 && page.rowsAt !== undefined;
  return isEmptyList && number > 1 && end !== undefined && USUAL_ENDS.has(end.code) ? 'debug' : 'warn';
}

const USUAL_ENDS: ReadonlySet<ReasonCode> = new Set([
  'noRows',
  'shortPage',
  'noLink',
  'noLinkHeader',
  'noValue',
  'endValue',
]);
