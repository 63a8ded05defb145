import { hash } from 'node:crypto';
import {
  encodeExact,
  getKey,
  isList,
  isObject,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/**
 * Steps for the rows of one page before they are written, with the facts about the page that are kept for another
 * reading.
 */
export interface PageSteps {
  readonly facts: AnyObject;
  /** @param isSeen the rows of the chunk came before, and are not to be counted again */
  readonly change: (rows: readonly Json[], isSeen: boolean) => readonly Json[];
}

export function isOneOf(row: Json, digests: ReadonlySet<string>): boolean {
  return digests.has(digestOf(row));
}

/** Returns the digest of a row; equal JSON has an equal one. */
export function digestOf(row: Json): string {
  return hash('sha1', encodeExact(row), 'base64url');
}

const KEY = 'rowsThatCameBefore';

/** Returns the steps of a page that leave out some rows first. */
export function withoutRepeats(steps: PageSteps | undefined, digests: ReadonlySet<string>): PageSteps {
  return {
    facts: objectOf([
      [KEY, [...digests]],
      ['steps', steps?.facts ?? null],
    ]),
    change(rows, isSeen) {
      const left = rows.filter((row) => !isOneOf(row, digests));
      return steps === undefined ? left : steps.change(left, isSeen);
    },
  };
}

type Again = (kept: AnyObject, response: () => Json) => (rows: readonly Json[]) => readonly Json[];

/** Returns the same steps for another reading of the page, by its kept facts. */
export function withoutRepeatsAgain(again: Again | undefined): Again {
  return (kept, response) => {
    const digests = getKey(kept, KEY);
    const own = isList(digests) ? getKey(kept, 'steps') : kept;
    const change = isObject(own) ? again?.(own, response) : undefined;
    if (!isList(digests)) return change ?? ((rows) => rows);
    const left = new Set(digests.map(toText));
    return (rows) => {
      const others = rows.filter((row) => !isOneOf(row, left));
      return change === undefined ? others : change(others);
    };
  };
}
