import { isoTime } from '../../../../lib/iso-time.ts';
import type { JobReport } from '../../../../engine/completeness/index.ts';
import type { RunRowResult } from '../../../../storage/protocol/run.ts';
import type { AskedOfRun } from '../../../stores/metadata/runs.ts';
import { lastGood, type GoodRun } from '../../../stores/metadata/alerts.ts';
import { findingOf, isOf, type AlertFinding, type AlertFindings, type AlertLook } from '../finding.ts';
import { MIN_RUNS, unusualText } from './usual.ts';

/** Runs that the newest one is compared with. */
const COMPARED = 30;
/** Partial runs among these are passed over. */
const READ = 60;
const SHOWN = 5;

/** Compares the numbers of the newest good run of each configuration with those of the runs before it. */
export async function lookAtNumbers({
  meta,
  alert,
  kinds,
  now,
  ended,
  known,
}: AlertLook): Promise<AlertFindings> {
  const found = new Map<string, AlertFinding | undefined>();
  for (const subject of known.filter((key) => key.startsWith(PREFIX)))
    if (!kinds.has('unusual')) found.set(subject, undefined);
  if (!kinds.has('unusual')) return found;
  for (const lockKey of ended) {
    const runs = (await lastGood(meta, lockKey, READ)).filter(isWhole);
    const [newest, ...before] = runs;
    if (newest === undefined || !isOf(alert, newest)) continue;
    const subject = `${PREFIX}${lockKey}`;
    const texts = unusualOf(newest, before.slice(0, COMPARED));
    const { component_id, configuration_id, id } = newest;
    found.set(
      subject,
      texts.length === 0
        ? undefined
        : findingOf({
            lock_key: subject,
            component_id,
            configuration_id,
            kind: 'unusual',
            severity: 'warning',
            cause: subject,
            run_id: id,
            detail: `${texts.slice(0, SHOWN).join('; ')}${changeOf(newest, before[0])}`,
            since: isoTime(now),
          }),
    );
  }
  return found;
}

const PREFIX = 'unusual ';

/** Tells whether a run asked for everything, and has it. */
function isWhole({ asked, verdict }: GoodRun): boolean {
  const { rows, from, to } = JSON.parse(asked) as AskedOfRun; // of this service
  return rows === undefined && from === undefined && to === undefined && GOOD.has(verdict);
}

const GOOD: ReadonlySet<string | null> = new Set(['complete', 'ended', null]);

function unusualOf(newest: GoodRun, before: readonly GoodRun[]): readonly string[] {
  if (before.length < MIN_RUNS) return [];
  const history = before.map(jobsOf);
  return [...jobsOf(newest)].flatMap(([key, { name, rows, pages, reasons }]) => {
    const past = history.flatMap((jobs) => jobs.get(key) ?? []);
    if (past.length < MIN_RUNS) return [];
    const texts = [
      unusualText(
        'pages',
        pages,
        past.map((job) => job.pages),
      ),
      unusualText(
        'rows',
        rows,
        past.map((job) => job.rows),
      ),
      newReason(reasons, past),
    ];
    return texts.filter((text) => text !== undefined).map((text) => `${name}: ${text}`);
  });
}

interface JobNumbers {
  readonly name: string;
  readonly rows: number;
  readonly pages: number;
  /** Why its runs ended, by code. */
  readonly reasons: ReadonlyMap<string, string>;
}

function jobsOf({ report }: GoodRun): ReadonlyMap<string, JobNumbers> {
  // Written by this service, from the reports of its own command.
  const rows = JSON.parse(report ?? '[]') as readonly RunRowResult[];
  return new Map(
    rows.flatMap(({ id = '', jobs }) =>
      (jobs as readonly JobReport[]).map((job) => [
        `${id} ${job.at}`,
        {
          name: job.job,
          rows: job.rows,
          pages: job.pages,
          reasons: new Map(job.reasons.map(({ reason, text }) => [reason.code, text])),
        },
      ]),
    ),
  );
}

/** A last page that is full is followed by one without rows: these reasons are of one kind. */
const SAME_END = new Map([
  ['shortPage', 'noRows'],
  ['emptyResponse', 'noRows'],
]);

const kindOf = (code: string): string => SAME_END.get(code) ?? code;

/** Returns a reason that no run before ended with. */
function newReason(reasons: ReadonlyMap<string, string>, past: readonly JobNumbers[]): string | undefined {
  const seen = new Set(past.flatMap((job) => [...job.reasons.keys()].map(kindOf)));
  const found = [...reasons].find(([code]) => !seen.has(kindOf(code)));
  const usual = [...(past[0]?.reasons.values() ?? [])][0];
  if (found === undefined || usual === undefined) return undefined;
  return `it ended because ${found[1]}, as none of ${past.length} runs before; the last one ended because ${usual}`;
}

function changeOf({ version }: GoodRun, before: GoodRun | undefined): string {
  const old = before?.version ?? null;
  return version === null || old === null || version === old
    ? ''
    : `. The configuration was changed since the run before (version ${old}, now ${version})`;
}
