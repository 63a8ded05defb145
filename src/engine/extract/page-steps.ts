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

/** What becomes of the rows of one page before they are written, with what is kept of the page for another reading. */
export interface PageSteps {
  readonly facts: AnyObject;
  /** @param isSeen the rows of the chunk came before, and are not to be counted again */
  readonly change: (rows: readonly Json[], isSeen: boolean) => readonly Json[];
}

export function isOneOf(row: Json, digests: ReadonlySet<string>): boolean {
  return digests.has(digestOf(row));
}

/** Equal JSON has an equal digest. */
export function digestOf(row: Json): string {
  return hash('sha1', encodeExact(row), 'base64url');
}

const KEY = 'rowsThatCameBefore';

/** The steps of a page that leaves out some rows first. */
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

/** The same for another reading of the page, by what was kept of it. */
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
