import type { Contexts } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import type { Json, Path } from '../../lib/json/index.ts';

/**
 * Data that a source may read. A kind that is missing in the place of the setting is refused when the source is
 * compiled.
 */
export interface View {
  /** Reads a plain path: in the response, or in the row. */
  here(path: Path): Json | undefined;
  response?(path: Path): Json | undefined;
  row?(path: Path): Json | undefined;
  /** Reads a path in the first or the last row of the page. */
  edge?(which: 'first' | 'last', path: Path): Json | undefined;
  /** Returns the smallest or largest value of the page's rows. */
  extreme?(which: 'min' | 'max', path: Path): Json | undefined;
  /** Reads a header; its name is in lower case. */
  header?(name: string): string | undefined;
  /** Request of the page. */
  readonly request?: JobRequest;
  answer?(fact: AnswerFact): Json | undefined;
  /** Returns flat values by their names: `attr`, `time`, `state`, `window`, `parent`, `placeholder` … */
  contexts?(): Contexts;
}

/**
 * Facts of an answer: `page` counts from 1, `rows` are those of the page, `read` those of the job so far, `url` is the
 * one that answered.
 */
export const ANSWER_FACTS = ['status', 'page', 'rows', 'read', 'bytes', 'url'] as const;
export type AnswerFact = (typeof ANSWER_FACTS)[number];
