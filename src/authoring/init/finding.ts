import type { OpenPoint } from '../../storage/protocol/advice.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import type { JobReport } from '../../engine/completeness/index.ts';
import type { Discovery } from './discover.ts';
import type { TriedSource } from './laboratory.ts';
import { openPoints } from './words.ts';

/** Finding for programs; JSON. */
export interface Finding {
  readonly verdict: Discovery['verdict'];
  readonly configuration: AnyObject;
  /** Place of the rows: an empty path is the answer itself. */
  readonly rows: { readonly path: string; readonly kind: string; readonly firstPage: number };
  /** Other lists of the answer. */
  readonly others: readonly { readonly path: string; readonly rows: number }[];
  readonly id: readonly string[];
  readonly time: string | null;
  readonly fields: readonly {
    readonly path: string;
    readonly kind: string;
    readonly filled: number;
    readonly distinct: number;
    readonly rows: number;
  }[];
  /** How the next page is asked for, in words. */
  readonly nextPage: string | null;
  readonly pages: number;
  readonly rowsRead: number;
  readonly report: JobReport | null;
  /** Evidence for the configuration. */
  readonly evidence: readonly string[];
  readonly against: readonly string[];
  readonly tried: readonly TriedSource[];
  /** Points that are not known, or that a person has to do. */
  readonly open: readonly OpenPoint[];
  readonly requests: number;
}

export function findingOf(found: Discovery): Finding {
  const { place, fields, key, time, settled, report } = found;
  return {
    verdict: found.verdict,
    configuration: found.configuration,
    rows: { path: place.keys.join('.'), kind: place.kind, firstPage: place.rows.length },
    others: found.others.map(({ keys, rows }) => ({ path: keys.join('.'), rows: rows.length })),
    id: key.paths,
    time: time?.path ?? null,
    fields: fields.map(({ path, kind, filled, distinct, rows }) => ({ path, kind, filled, distinct, rows })),
    nextPage: settled === undefined ? null : settled.candidate.says,
    pages: found.pages,
    rowsRead: found.rows,
    report: report ?? null,
    evidence: settled?.evidence ?? [],
    against: found.against,
    tried: found.tried,
    open: openPoints(found),
    requests: found.requests,
  };
}
