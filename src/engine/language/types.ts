import type { CallFunction } from '../shared/evaluate.ts';
import type { Json, Path } from '../../lib/json/index.ts';
import type { Invalid } from '../../lib/read-settings.ts';
import type { SourceKind } from './kinds.ts';
import type { View } from './view.ts';

/**
 * Origin of a value: the response around the rows, a row, the run that sends requests and counts, or a fact of the page
 * (its status, its number of rows). Constants have none.
 */
export type ValueOrigin = 'response' | 'rows' | 'run' | 'page';

/** Data that a source must be able to read, so that they are kept for it. */
export interface SourceNeeds {
  /** Response headers, in lower case: a run that is resumed finds them in its recording. */
  readonly headers: readonly string[];
  /** True when it reads the rows of the page. */
  readonly rows: boolean;
  readonly origins: readonly ValueOrigin[];
}

/** Value of the exchange, compiled once (docs/language/sources.md). */
export interface ValueSource {
  /** Description of its origin, for messages: `meta.next`, “the header X-Next”. */
  readonly text: string;
  readonly at: string;
  readonly needs: SourceNeeds;
  /** Path in the current document, where the source is nothing else. */
  readonly path?: Path | undefined;
  /** Returns the value that a part is taken from: by `param`, `match`, `where` or `as`. */
  whole?(view: View): Json | undefined;
  /** Reads the value; undefined where there is none. */
  read(view: View): Json | undefined;
}

export interface SourceOptions {
  /** JSON path of the setting, for messages. */
  readonly at: string;
  /** Calls a function of the language; without it functions are refused. */
  readonly call?: CallFunction | undefined;
  /** Separator of the keys of plain paths; `.` by default. */
  readonly delimiter?: string | undefined;
  /** True when a key equal to the whole text of a path takes precedence over the path through several keys. */
  readonly isKeyFirst?: boolean | undefined;
  /** Kinds of sources that may be used here; all by default. */
  readonly kinds?: readonly SourceKind[] | undefined;
  /** Makes the error of the stage. */
  readonly invalid?: Invalid | undefined;
}

/** A source without its place in the configuration. */
export type Read = Omit<ValueSource, 'at'>;

export type CompileSource = (value: Json, options: SourceOptions) => ValueSource;

/** Joins the needs of several sources. */
export function needsOf(parts: readonly { readonly needs: SourceNeeds }[]): SourceNeeds {
  return parts.reduce((all, { needs }) => joined(all, needs), NOTHING);
}

export const NOTHING: SourceNeeds = { headers: [], rows: false, origins: [] };

/** Most parts need nothing, or what one before them needs: there are no new ones to make for them. */
function joined(all: SourceNeeds, more: SourceNeeds): SourceNeeds {
  if (all === NOTHING) return more;
  if (includes(all, more)) return all;
  return {
    headers: [...new Set([...all.headers, ...more.headers])],
    rows: all.rows || more.rows,
    origins: [...new Set([...all.origins, ...more.origins])],
  };
}

function includes(all: SourceNeeds, more: SourceNeeds): boolean {
  return (
    (all.rows || !more.rows) &&
    more.headers.every((name) => all.headers.includes(name)) &&
    more.origins.every((origin) => all.origins.includes(origin))
  );
}
