import type { Contexts } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import type { Json, Path } from '../../lib/json/index.ts';

/** What a source may look at. What is not there in the place of the setting is refused when the source is compiled. */
export interface View {
  /** What a plain path leads into: the response, or the row. */
  here(path: Path): Json | undefined;
  response?(path: Path): Json | undefined;
  row?(path: Path): Json | undefined;
  /** In the first or the last row of the page. */
  edge?(which: 'first' | 'last', path: Path): Json | undefined;
  /** The smallest or largest value of the page's rows. */
  extreme?(which: 'min' | 'max', path: Path): Json | undefined;
  /** Name in lower case. */
  header?(name: string): string | undefined;
  /** What was asked for. */
  readonly request?: JobRequest;
  answer?(fact: AnswerFact): Json | undefined;
  /** Flat values by their names: `attr`, `time`, `state`, `window`, `parent`, `placeholder` … */
  contexts?(): Contexts;
}

/** `page` counts from 1, `rows` are those of the page, `read` those of the job so far, `url` is what answered. */
export const ANSWER_FACTS = ['status', 'page', 'rows', 'read', 'bytes', 'url'] as const;
export type AnswerFact = (typeof ANSWER_FACTS)[number];
