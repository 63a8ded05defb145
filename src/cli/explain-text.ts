import { leadText, startText } from '../engine/explain/value-origin-text.ts';
import {
  isRepeated,
  judgementOf,
  type Story,
  type JobTrace,
  type ToldPage,
  type ToldRun,
} from '../engine/explain/trace.ts';
import { reasonText } from '../engine/shared/stop-reason.ts';
import type { OpenRecording } from '../runner/recordings.ts';
import { shownText } from '../lib/shown-text.ts';
import { doubtText, proofText, reactionText, type Judgement } from '../engine/completeness/index.ts';
import { commonBase, lineOf } from './explain-line.ts';
import { fitTable } from './fit-table.ts';
import { formatBytes, formatCount, plural } from './format.ts';

export interface ToldText {
  readonly recording: OpenRecording;
  readonly story: Story;
}

export interface ShownHow {
  readonly isAll: boolean;
  /** Columns of the terminal; undefined for any number. */
  readonly width: number | undefined;
}

/** Pages at the beginning and at the end of a long run that are shown. */
const FIRST = 6;
const LAST = 3;
/** The same for each run of a child. */
const CHILD_FIRST = 3;
/** Runs of a child that are shown. */
const RUNS = 3;

/** Describes a run for people. */
export function describeStory({ recording, story }: ToldText, how: ShownHow): string {
  const { head } = recording.scanned;
  const pages = story.jobs.flatMap(({ runs }) => runs.flatMap((run) => run.pages));
  const base = commonBase(pages.map(({ exchange }) => exchange.request.url));
  const parts = [headLine(recording, pages)];
  if (base !== '') parts.push(`All addresses begin with ${shownText(base)}`);
  if (pages.length === 0) return `${parts.join('\n')}\nNothing was answered.`;
  const jobs = story.jobs.map((job) => describeJob(job, base, how, recording.scanned.isFinished));
  const stopped = recording.scanned.isFinished ? [] : [STOPPED];
  return [parts.join('\n'), ...jobs, ...limitLines(story, head.startedAt), ...stopped].join('\n\n');
}

/** Changes of the number of requests at once that are shown. */
const LIMITS = 12;

function limitLines({ limits }: Story, startedAt: number): string[] {
  if (limits.length === 0) return [];
  const many = new Set(limits.map(({ origin, credential = '' }) => `${origin} ${credential}`)).size > 1;
  const left = limits.length - LIMITS;
  const lines = limits.slice(-LIMITS).map(({ at, origin, credential, sent, from, to, why }) => {
    const of = many ? `${origin}${credential === undefined ? '' : ` as ${credential}`}: ` : '';
    const change = from === to ? `still ${to}` : `${from} → ${to}`;
    return `  +${((at - startedAt) / 1000).toFixed(1)} s  ${shownText(of)}${change} after ${plural(sent, 'request')}: ${shownText(why)}`;
  });
  const more = left > 0 ? [`  … ${plural(left, 'change')} before; --json shows them`] : [];
  return [['Requests at once, as the API took them', ...more, ...lines].join('\n')];
}

const STOPPED =
  'The run was stopped behind the last answer. A request that failed is not recorded: the message of the run names it.';

function headLine({ row, scanned }: OpenRecording, pages: readonly ToldPage[]): string {
  const { head, isFinished } = scanned;
  const when = new Date(head.startedAt).toISOString().slice(0, 19).replace('T', ' ');
  const of = row === undefined ? '' : ` of row “${row}”`;
  const end = isFinished ? '' : ', which was stopped before its end';
  return `The run${of} of ${when} UTC${end}: ${plural(pages.length, 'request')}, ${formatBytes(sum(pages, bytesOf))}`;
}

function describeJob(job: JobTrace, base: string, how: ShownHow, isFinished: boolean): string {
  const { name, level, runs } = job;
  const pages = runs.flatMap((run) => run.pages);
  const used = pages.filter(
    ({ fate, note, step }) => fate === 'used' && step === undefined && !isRepeated(note),
  );
  const times = runs.length === 1 ? '' : `${plural(runs.length, 'run')}, `;
  const counts = `${times}${plural(used.length, 'page')}, ${plural(sum(used, rowsOf), 'row')}, ${formatBytes(sum(pages, bytesOf))}`;
  const indent = '  '.repeat(level);
  const shown = how.isAll || runs.length <= RUNS ? runs : chosenRuns(runs);
  const tables = shown.map((run) => describeRun(run, base, how, runs.length === 1));
  const left = runs.length - shown.length;
  const more = left === 0 ? [] : [`… ${plural(left, 'run')} more; --all shows them`];
  const lines = [
    `${level === 0 ? '' : 'child '}“${shownText(name)}”: ${counts}`,
    ...verdictLines(job, isFinished).map((line) => `  ${line}`),
    '',
    ...[...tables, ...more].join('\n\n').split('\n'),
  ];
  return lines.map((line) => (line === '' ? '' : indent + line)).join('\n');
}

/** Chooses the runs to show, those with findings first, which are the usual reason to look. */
function chosenRuns(runs: readonly ToldRun[]): readonly ToldRun[] {
  const doubtful = runs.filter(({ pages }) => judgementOf(pages)?.verdict === 'doubtful');
  const open = runs.filter(({ pages }) => endOf(pages) === undefined);
  const wanted = new Set([...open, ...doubtful, ...runs].slice(0, RUNS));
  return runs.filter((run) => wanted.has(run));
}

function verdictLines({ runs, report }: JobTrace, isFinished: boolean): string[] {
  const open = runs.filter(({ pages }) => endOf(pages) === undefined);
  const lines: string[] = [];
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) {
    const end = endOf(only.pages);
    if (end !== undefined)
      lines.push(`It ended after page ${end.page}: ${shownText(reasonText(end.reason))}`);
    const judgement = judgementOf(only.pages);
    if (judgement !== undefined) lines.push(...judgementLines(judgement));
  } else if (report !== undefined) {
    for (const { text, runs: times } of report.reasons)
      lines.push(`${plural(times, 'run')} ended: ${shownText(text)}`);
    const verdicts = Object.entries(report.verdicts).map(
      ([verdict, times]) => `${formatCount(times)} ${verdict}`,
    );
    lines.push(`Verdicts: ${verdicts.join(', ')}`);
    for (const { doubts } of report.doubtful.slice(0, 1))
      lines.push(...doubts.map(({ text }) => `Doubtful, first: ${shownText(text)}`));
  }
  for (const reaction of report?.reactions ?? []) lines.push(shownText(reactionText(reaction)));
  if (open.length > 0) {
    const last = open.at(-1)?.pages.findLast(({ fate }) => fate !== 'ahead')?.page ?? 0;
    lines.push(
      isFinished
        ? 'It is not known why it ended'
        : `It did not end: the run was stopped after page ${last}. gex run goes on from there`,
    );
  }
  return lines;
}

function judgementLines({ verdict, doubts, proof }: Judgement): string[] {
  if (verdict === 'doubtful') return doubts.map((doubt) => `Doubtful: ${shownText(doubtText(doubt))}`);
  if (proof !== undefined) return [`Complete: ${shownText(proofText(proof))}`];
  if (verdict === 'cut') return ['Cut: there may be more, as you wanted it so'];
  return ['Nothing in the answers speaks against that'];
}

/** Returns the place and the reason of a run's end. */
function endOf(
  pages: readonly ToldPage[],
): { page: number; reason: NonNullable<ToldPage['note']['stop']> } | undefined {
  const last = pages.findLast(({ note }) => note.stop !== undefined);
  return last?.note.stop === undefined ? undefined : { page: last.page, reason: last.note.stop };
}

function describeRun(run: ToldRun, base: string, how: ShownHow, isOnly: boolean): string {
  const needed = run.pages.filter(({ fate }) => fate !== 'ahead');
  const ahead = run.pages.length - needed.length;
  const pages = how.isAll || ahead === 1 ? run.pages : needed;
  const [most, least] = run.above.length === 0 ? [FIRST, LAST] : [CHILD_FIRST, 1];
  const left = how.isAll ? 0 : pages.length - most - least;
  const shown = left > 1 ? [...pages.slice(0, most), ...pages.slice(-least)] : pages;
  const hasRetries = shown.some(({ exchange }) => (exchange.attempts ?? 1) > 1);
  const columns = ['page', 'asked', 'rows', 'bytes', 'ms', ...(hasRetries ? ['retries'] : []), WHY];
  const table = fitTable(
    columns,
    shown.map((page) => cellsOf(page, base, hasRetries)),
    { right: ['page', 'rows', 'bytes', 'ms', 'retries'], elastic: ['asked', WHY], width: how.width },
  );
  if (left > 1) table.splice(most + 1, 0, `   … ${plural(left, 'page')} more; --all shows them`);
  if (pages === needed && ahead > 0)
    table.push(`   … ${plural(ahead, 'page')} more asked for ahead, and not needed; --all shows them`);
  return [...titleOf(run, isOnly), ...table].join('\n');
}

const WHY = 'why this request';

function cellsOf(page: ToldPage, base: string, hasRetries: boolean): string[] {
  const { exchange, note } = page;
  return [
    pageText(page),
    shownText(lineOf(exchange.request, base)),
    note.rows === undefined || page.step !== undefined ? '' : formatCount(note.rows),
    formatBytes(bytesOf(page)),
    formatCount(exchange.ms),
    ...(hasRetries ? [String((exchange.attempts ?? 1) - 1)] : []),
    shownText(whyText(page)),
  ];
}

/** Returns the number of a page, or the name of a step before the pages. */
function pageText({ page, step }: ToldPage): string {
  return step === undefined ? String(page) : page === 1 ? step : `${step} ${page}`;
}

function titleOf({ above, row, iteration, window }: ToldRun, isOnly: boolean): string[] {
  if (above.length === 0) {
    const parts = [
      ...(isOnly || iteration === undefined || (iteration === 0 && window !== undefined)
        ? []
        : [`iteration ${iteration + 1}`]),
      ...(window === undefined ? [] : [`window ${shownText(window)}`]),
    ];
    return parts.length === 0 ? [] : [parts.join(', ')];
  }
  const rows = [...above.slice(1).map((step) => step.row ?? 0), row ?? 0];
  const steps = above.map(
    (step, i) => `row ${(rows[i] ?? 0) + 1} of page ${step.page} of “${shownText(step.job)}”`,
  );
  const of = steps.toReversed().join(', of ');
  return [window === undefined ? of : `${of}, window ${shownText(window)}`];
}

function whyText({ page, step, isExport = false, from, fate, exchange, note }: ToldPage): string {
  const parts = from.map(leadText);
  if (parts.length === 0) parts.push(startText(page, step, isExport));
  if (fate === 'ahead') parts.push('asked for ahead, and not needed');
  if (isRepeated(note)) parts.push('came before: not written');
  if (note.taken !== undefined) parts.push(TAKEN[note.taken.do]);
  if (fate === 'bad') parts.push('the answer could not be used');
  if (exchange.status !== 200) parts.push(`status ${exchange.status}`);
  return parts.filter((part) => part !== '').join('; ');
}

const TAKEN = { empty: 'taken as empty', skip: 'skipped', rows: 'taken as rows' } as const;

const bytesOf = ({ body, exchange }: ToldPage): number => exchange.large?.bytes ?? body.bytes;
const rowsOf = ({ note }: ToldPage): number => note.rows ?? 0;

function sum(pages: readonly ToldPage[], of: (page: ToldPage) => number): number {
  return pages.reduce((total, page) => total + of(page), 0);
}
