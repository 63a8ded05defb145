import type { AnyObject, Json, JsonObject } from '../../lib/json/index.ts';
import type { ParameterPath } from './params.ts';
import type { Signs } from './signs.ts';
import type { FoundRequest } from './target.ts';

/** A way to the next page that may be the right one. */
export interface Candidate {
  readonly kind: 'link' | 'url' | 'token' | 'row' | 'page' | 'offset';
  /** Description of the step: “`meta.next` → `cursor`”. */
  readonly says: string;
  readonly pagination: JsonObject;
  /** Parameters of the job with it. */
  readonly params: AnyObject;
  /** Nothing in the answer speaks of it. */
  readonly isGuess: boolean;
  /** Candidates of one group differ in the name of a parameter alone. */
  readonly group?: string;
  /** The parameter for page 2, and its value. */
  readonly sends?: readonly [string, Json];
  /** It moves what the request has: a second page without rows is the end, as for pages and offsets. */
  readonly isMoved?: true;
  /** Counter, for pages and offsets: its parameter, its first value, and the size of a page. */
  readonly counts?: Counting;
}

export interface Counting {
  readonly param: ParameterPath;
  readonly first: number;
  readonly size: number;
  readonly sizeParam: string;
}

/** Facts of the first answer that candidates are made from. */
export interface Observed {
  readonly target: FoundRequest;
  readonly signs: Signs;
  readonly rows: number;
  /** Path of the id in the rows, where there is one. */
  readonly id: string | undefined;
  /** The id of the last row. */
  readonly lastId: Json | undefined;
  readonly body: Json;
}
