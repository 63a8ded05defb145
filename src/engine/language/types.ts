import type { CallFunction } from '../shared/evaluate.ts';
import type { Json, Path } from '../../lib/json/index.ts';
import type { Invalid } from '../../lib/read-settings.ts';
import type { Kind } from './kinds.ts';
import type { View } from './view.ts';

/**
 * Whose word a value is: of the response around the rows, of a row, of the run that asks and counts, or a fact of the
 * page (its status, its number of rows). Constants are nobody's.
 */
export type Origin = 'response' | 'rows' | 'run' | 'page';

/** What a source must be able to see, so that it is kept for it. */
export interface SourceNeeds {
  /** Response headers, in lower case: a run that goes on finds them in its recording. */
  readonly headers: readonly string[];
  /** It looks into the rows of the page. */
  readonly rows: boolean;
  readonly origins: readonly Origin[];
}

/** A value of the exchange, compiled once (docs/language/sources.md). */
export interface Source {
  /** Where the value comes from, for messages: `meta.next`, “the header X-Next”. */
  readonly text: string;
  readonly at: string;
  readonly needs: SourceNeeds;
  /** The path in what is at hand, where it is nothing else. */
  readonly path?: Path | undefined;
  /** What the value is cut out of, where it is a part: by `param`, `match`, `where` or `as`. */
  whole?(view: View): Json | undefined;
  /** Undefined where there is none. */
  read(view: View): Json | undefined;
}

export interface SourceOptions {
  /** JSON path of the setting, for messages. */
  readonly at: string;
  /** Calls a function of the language; without it functions are refused. */
  readonly call?: CallFunction | undefined;
  /** Between the keys of plain paths; `.` by default. */
  readonly delimiter?: string | undefined;
  /** A key that is the whole text of a path comes before the way through several. */
  readonly isKeyFirst?: boolean | undefined;
  /** What may be looked at here; everything by default. */
  readonly kinds?: readonly Kind[] | undefined;
  /** Makes the error of the stage. */
  readonly invalid?: Invalid | undefined;
}

/** A source without its place in the configuration. */
export type Read = Omit<Source, 'at'>;

export type CompileSource = (value: Json, options: SourceOptions) => Source;

/** What several need together. */
export function needsOf(parts: readonly { readonly needs: SourceNeeds }[]): SourceNeeds {
  return {
    headers: [...new Set(parts.flatMap(({ needs }) => needs.headers))],
    rows: parts.some(({ needs }) => needs.rows),
    origins: [...new Set(parts.flatMap(({ needs }) => needs.origins))],
  };
}
