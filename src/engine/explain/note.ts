import { entriesOf, getKey, isList, isObject, parseExact, toText, type Json } from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Judgement, ReactionReport } from '../completeness/index.ts';

/** Facts that followed from an answer, as the recording stores them. */
export interface ExplainNote {
  readonly rows?: number;
  /** Way in which the pagination made the next request; undefined where it is not known, or there was none. */
  readonly asks?: AskedBy;
  /** Values that the pagination read, by path. */
  readonly values?: ReadonlyMap<string, Json>;
  readonly headers?: ReadonlyMap<string, string>;
  /** Smallest and largest id of the rows. */
  readonly ids?: { readonly path: string; readonly min: string; readonly max: string };
  /** For a child: the values of its placeholders, and their paths in the rows above. */
  readonly parameters?: readonly ExplainedParameter[];
  /** The window of time of the run, in words. */
  readonly window?: string;
  /** Result of a response rule that treated the answer otherwise than as usual. */
  readonly taken?: TakenReport;
  readonly stop?: Reason;
  readonly judgement?: Judgement;
}

/**
 * Kind of pagination. `count`: by numbers of its own, in pages of a size where it is known; `follow`: by values of the
 * answer.
 */
export interface AskedBy {
  readonly kind: 'none' | 'count' | 'follow';
  readonly size?: number;
}

export type TakenReport = Omit<ReactionReport, 'answers' | 'request'>;

export interface ExplainedParameter {
  readonly name: string;
  readonly path: string;
  readonly value: Json;
}

/** @param json that the recorder wrote: its check sum was good */
export function readNote(json: string): ExplainNote & { readonly of: number } {
  const node = parseExact(json);
  if (!isObject(node)) return { of: -1 };
  const values = getKey(node, 'values');
  const headers = getKey(node, 'headers');
  const ids = getKey(node, 'ids');
  const parameters = getKey(node, 'parameters');
  const plain = JSON.parse(json) as {
    of: number;
    rows?: number;
    asks?: AskedBy;
    window?: string;
    taken?: TakenReport;
    stop?: Reason;
    judgement?: Judgement;
  }; // as the recorder wrote it
  const [path, min, max] = isList(ids) ? ids.map(toText) : [];
  return {
    of: plain.of,
    ...(plain.rows === undefined ? {} : { rows: plain.rows }),
    ...(isObject(values) ? { values: new Map(entriesOf(values)) } : {}),
    ...(isObject(headers)
      ? { headers: new Map(entriesOf(headers).map(([name, value]) => [name, toText(value)])) }
      : {}),
    ...(path === undefined || min === undefined || max === undefined ? {} : { ids: { path, min, max } }),
    ...(isList(parameters) ? { parameters: parameters.map(parameterOf) } : {}),
    ...(plain.asks === undefined ? {} : { asks: plain.asks }),
    ...(plain.window === undefined ? {} : { window: plain.window }),
    ...(plain.taken === undefined ? {} : { taken: plain.taken }),
    ...(plain.stop === undefined ? {} : { stop: plain.stop }),
    ...(plain.judgement === undefined ? {} : { judgement: plain.judgement }),
  };
}

function parameterOf(item: Json): ExplainedParameter {
  const [name, path, value = null] = isList(item) ? item : [];
  return { name: toText(name), path: toText(path), value };
}
