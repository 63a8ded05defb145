import type { Contexts } from '../../shared/evaluate.ts';
import { compareMarks, markOf, type Incremental, type Job, type Mark } from '../../jobs/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isList,
  isObject,
  md5,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { RowSource } from '../table-writer.ts';
import type { PageSteps } from '../page-steps.ts';

/** Limits of the rows that are written: those older than the state, or behind a period, are dropped. */
export interface RowLimits {
  readonly since: Mark | undefined;
  readonly until: Mark | undefined;
  /** Rows at `since` are older, too. */
  readonly dropsEqual: boolean;
  /** Rows at `since` that an earlier run had are older, too. */
  readonly known?: KnownRows | undefined;
}

/** Rows at the state that were there before. */
export interface KnownRows {
  readonly digests: readonly string[];
  /** Names the part of the job that the rows are of: another part may have the same ones, and they are others. */
  readonly part: string;
}

/** Returns the digest by which a row is known again. */
export function rowDigest(row: Json, part: string): string {
  return md5(encodeExact([part, row])).slice(0, 16);
}

/** Returns the mark of a row; undefined if it has none, or one that cannot be compared. */
export function markOfRow(
  { cursor, cursorForm, as }: Incremental,
  row: Json,
  contexts: Contexts,
): { readonly value: Json | undefined; readonly mark: Mark | undefined } {
  const value = cursor?.read({
    here: (path) => path.find(row),
    row: (path) => path.find(row),
    contexts: () => contexts,
  });
  const isMissing = value === undefined || value === null || value === '';
  if (isMissing) return { value: undefined, mark: undefined };
  const read = cursorForm === undefined ? value : cursorForm(value);
  return { value, mark: read === undefined ? undefined : markOf(read, as) };
}

/** Tells whether a row is written. One that cannot be compared is. */
export function keepsRow(
  settings: Incremental,
  { since, until, dropsEqual, known }: RowLimits,
  contexts: Contexts,
): (row: Json) => boolean {
  const digests = new Set(known?.digests);
  const isKnown = (row: Json): boolean => known !== undefined && digests.has(rowDigest(row, known.part));
  return (row) => {
    const { mark } = markOfRow(settings, row, contexts);
    if (mark === undefined) return true;
    const order = since === undefined ? undefined : compareMarks(mark, since);
    if (order !== undefined && (order < 0 || (order === 0 && (dropsEqual || isKnown(row))))) return false;
    const end = until === undefined ? undefined : compareMarks(mark, until);
    return end === undefined || end < 0;
  };
}

/** Counts rows that came, and those of them that are written. */
export type Count = (came: number, kept: number) => void;

/**
 * Applies the limits to the rows of a page, and then the steps of the job.
 *
 * @param count is told of each row once
 */
export function limitedSteps(
  { incremental }: Job,
  limits: RowLimits | undefined,
  steps: PageSteps | undefined,
  contexts: Contexts,
  count: Count,
): PageSteps | undefined {
  if (incremental === undefined || limits === undefined) return steps;
  const keeps = keepsRow(incremental, limits, contexts);
  const facts = [
    ...(steps === undefined ? [] : entriesOf(steps.facts)),
    [LIMITS, limitsJson(limits)] as const,
  ];
  return {
    facts: objectOf(facts),
    change(rows, isSeen) {
      const kept = rows.filter(keeps);
      if (!isSeen) count(rows.length, kept.length);
      return steps === undefined ? kept : steps.change(kept, isSeen);
    },
  };
}

/** Applies the limits again by the kept facts of the page. */
export function limitedAgain(
  { incremental }: Job,
  again: RowSource['changeAgain'],
  contexts: Contexts,
): RowSource['changeAgain'] {
  if (incremental === undefined) return again;
  return (kept, response) => {
    const change = again?.(kept, response);
    const limits = limitsOf(kept, incremental);
    const keeps = limits === undefined ? undefined : keepsRow(incremental, limits, contexts);
    return (rows) => {
      const left = keeps === undefined ? rows : rows.filter(keeps);
      return change === undefined ? left : change(left);
    };
  };
}

/** Key of the limits in what is kept of a page. */
const LIMITS = 'limits';

function limitsJson({ since, until, dropsEqual, known }: RowLimits): AnyObject {
  return objectOf([
    ...(since === undefined ? [] : [['since', since.value] as const]),
    ...(until === undefined ? [] : [['until', until.value] as const]),
    ['dropsEqual', dropsEqual],
    ...(known === undefined ? [] : [['known', known.digests] as const, ['part', known.part] as const]),
  ]);
}

function limitsOf(facts: AnyObject, { as }: Incremental): RowLimits | undefined {
  const kept = getKey(facts, LIMITS);
  if (kept === undefined || !isObject(kept)) return undefined;
  const mark = (key: string): Mark | undefined => {
    const value = getKey(kept, key);
    return value === undefined ? undefined : markOf(value, as);
  };
  const digests = digestsOf(getKey(kept, 'known'));
  return {
    since: mark('since'),
    until: mark('until'),
    dropsEqual: getKey(kept, 'dropsEqual') === true,
    ...(digests.length === 0 ? {} : { known: { digests, part: toText(getKey(kept, 'part') ?? '') } }),
  };
}

/** Reads digests of rows, as they are stored. */
export function digestsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((digest) => typeof digest === 'string') : [];
}
