import { isOpen, type JobReport, type Verdict } from '../../../engine/completeness/index.ts';
import type { RunError, RunRowResult } from '../../../storage/protocol/run.ts';
import type { Ended } from './child.ts';

/** Result of a run, by the output of its process and its end. */
export interface RunReport {
  readonly rows: readonly RunRowResult[];
  readonly verdict: Verdict | undefined;
  /** Words why the doubt is accepted; undefined where there is none, or one that is not accepted. */
  readonly accepted: string | undefined;
  readonly error: RunError | undefined;
  /** True when it failed because the storage was unavailable. */
  readonly mayPass: boolean;
}

/** The document of `gex run --json`, as far as it is used. */
interface Document {
  readonly rows?: readonly {
    readonly id?: string;
    readonly isHeld?: boolean;
    readonly rows: number;
    readonly jobs: readonly JobReport[];
    readonly tables: readonly {
      readonly name: string;
      readonly rows: number;
      readonly destination?: string;
    }[];
  }[];
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly where?: unknown;
    readonly hint?: string;
    readonly mayPass?: boolean;
  };
}

/**
 * @param others what the process said that is no event of its log
 * @param clean takes out of a text what is not to be shown
 */
export function readReport(
  ended: Ended,
  { others, clean }: { readonly others: readonly string[]; readonly clean: (text: string) => string },
): RunReport {
  const document = documentIn(ended.result);
  const rows = (document?.rows ?? []).map(({ id, isHeld, rows: count, jobs, tables }) => {
    const verdict = worst(jobs.map((job) => job.verdict));
    return {
      ...(id === undefined ? {} : { id }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(isHeld === true ? { isHeld } : {}),
      rows: count,
      tables: tables.map(({ name, rows: inTable, destination }) => ({
        name,
        rows: inTable,
        ...(destination === undefined ? {} : { destination }),
      })),
      jobs: [...jobs],
    };
  });
  const mayPass = ended.code !== 0 && document?.error?.mayPass === true;
  const verdict = worst(rows.flatMap((row) => row.verdict ?? []));
  const doubtful = (document?.rows ?? []).flatMap(({ jobs }) =>
    jobs.filter((job) => job.verdict === 'doubtful'),
  );
  const accepted = doubtful.some(isOpen) ? undefined : doubtful[0]?.accepted;
  return { rows, verdict, accepted, error: errorOf(ended, document?.error, { others, clean }), mayPass };
}

function errorOf(
  { code, signal }: Ended,
  told: Document['error'],
  { others, clean }: { readonly others: readonly string[]; readonly clean: (text: string) => string },
): RunError | undefined {
  if (code === 0) return undefined;
  const audience = code === 1 || told?.code === 'run.interrupted' ? 'user' : 'application';
  if (told !== undefined) {
    const { code: kind, message, where, hint } = told;
    // The hint of the command speaks of its folder, and that of a run is the runner's.
    const way = kind === 'run.doubtful' ? DOUBTFUL : hint;
    return {
      code: kind,
      message: clean(message),
      audience,
      ...(way === undefined ? {} : { hint: clean(way) }),
      ...(where === undefined ? {} : { where: JSON.parse(clean(JSON.stringify(where))) as unknown }),
    };
  }
  const said = others.join('\n').replace(/^error: /, '');
  if (signal === null)
    return { code: 'internal', message: said === '' ? `It ended with ${code}.` : said, audience };
  return {
    code: 'internal',
    message: `The process of the run was ended by ${signal}.`,
    audience: 'application',
    hint: 'On a machine that is short of memory the system ends processes: look into its log.',
  };
}

const DOUBTFUL =
  'Correct what the log names; or accept it, which loads what is there; or write `"completeness": {"mode": "accept", "because": "…"}` into the job.';

const ORDER: readonly Verdict[] = ['complete', 'ended', 'cut', 'doubtful'];

function worst(verdicts: readonly string[]): Verdict | undefined {
  return ORDER.findLast((verdict) => verdicts.includes(verdict));
}

/** Returns the result; undefined for any other text: the process was ended before it printed one. */
function documentIn(text: string): Document | undefined {
  try {
    const document: unknown = JSON.parse(text);
    // Printed by this program, of this version.
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}
