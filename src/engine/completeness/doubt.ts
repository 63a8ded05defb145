/**
 * Finding against the completeness of a run: a code with its values. `page` is where it was seen, `key` the setting to
 * change.
 */
export type Doubt = { readonly page: number; readonly path?: string; readonly key: string } & (
  | {
      readonly code: 'totalAbove';
      readonly total: number;
      /** There are so many at least. */
      readonly isBound?: true;
      readonly rows: number;
      readonly size?: number;
      readonly asked?: number;
    }
  | { readonly code: 'pagesAbove'; readonly total: number; readonly pages: number }
  | { readonly code: 'nextPage' | 'moreFlag' }
  /** `path` says that there is more, and `end` that there is none. */
  | { readonly code: 'contradiction'; readonly end: string }
  /** `how`: the whole answer, its rows, the ids of its rows, or all but changing values. */
  | { readonly code: 'samePage'; readonly of: number; readonly how: 'answer' | 'rows' | 'ids' | 'values' }
  | { readonly code: 'capped'; readonly asked: number; readonly size: number }
  /** `total`: where a total is that may be the number of the rows of the page. */
  | { readonly code: 'fullPage'; readonly size: number; readonly total?: string }
  | { readonly code: 'notFound'; readonly looked: string; readonly near?: string }
  | { readonly code: 'totalShrank'; readonly from: number; readonly to: number }
  | { readonly code: 'rowsTwice'; readonly rows: number; readonly of: number; readonly pages: number }
  | { readonly code: 'onlyKnownRows' }
  | { readonly code: 'notFirst'; readonly begins?: number }
  | { readonly code: 'gap' | 'overlap'; readonly begins: number; readonly expected: number }
  | { readonly code: 'tooManyRows'; readonly asked: number; readonly rows: number }
  /** `isRow`: it was taken for a row. */
  | { readonly code: 'error'; readonly text: string; readonly isRow?: true }
  | { readonly code: 'partial' }
  /** The names of the columns came as a row. */
  | { readonly code: 'headerAgain' }
  /** All windows of time brought the same rows. */
  | { readonly code: 'sameWindows'; readonly windows: number }
  /** Rows that came with a window of time and with the one before it; `windows` names the first two. */
  | { readonly code: 'windowsOverlap'; readonly rows: number; readonly windows: readonly [string, string] }
  /** All runs brought the same rows, although other values of these names were asked for. */
  | { readonly code: 'sameRuns'; readonly runs: number; readonly names: readonly string[] }
  /** Rows of a request for several parent rows that belong to none of them, by the value at `path`. */
  | { readonly code: 'strangers'; readonly rows: number }
  /** A page behind the first was skipped by a reaction. */
  | { readonly code: 'skipped'; readonly text: string }
);

export type DoubtCode = Doubt['code'];

/** Evidence that a run is complete. */
export type Proof =
  | { readonly code: 'totalEquals'; readonly path: string; readonly total: number }
  | { readonly code: 'pagesEqual'; readonly path: string; readonly pages: number }
  | { readonly code: 'saidEnd'; readonly path: string }
  /** The rows are sorted by the state, and those of the last page are older. */
  | { readonly code: 'reachedState'; readonly state: string }
  /** The API said that its export is done, and all of it was read. */
  | { readonly code: 'exportDone'; readonly files: number }
  /** The link or token that led from page to page is gone. */
  | { readonly code: 'ledToEnd' };

export type Verdict = 'complete' | 'ended' | 'cut' | 'doubtful';

export interface Judgement {
  readonly verdict: Verdict;
  readonly doubts: readonly Doubt[];
  readonly proof?: Proof;
}
