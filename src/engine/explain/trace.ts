import type { ExchangeJson } from '../recording/exchange.ts';
import { EXPORT_STEPS, keyOf, type ExportStep, type Position } from '../recording/position.ts';
import type { BodyPlace, RecordFile } from '../recording/record-file.ts';
import { limitOf, type LimitJson } from '../recording/limit.ts';
import { exchangeOf, recordsOf, type RecordingScan } from '../recording/scan.ts';
import { JobTally, type JobReport, type Judgement } from '../completeness/index.ts';
import { leadOf, parentLead, type Lead } from './value-origin.ts';
import { readNote, type ExplainNote } from './note.ts';

/** Trace of a recording: the requests of each job, and the facts that followed from their answers. */
export interface Story {
  readonly jobs: readonly JobTrace[];
  /** Changes of the number of requests at once, the last ones. */
  readonly limits: readonly LimitJson[];
  /** Requests in the middle that were left out, of a recording that was read in part. */
  readonly leftOut?: number;
}

export interface JobTrace {
  readonly name: string;
  /** 0 for a job, 1 for its children, and so on. */
  readonly level: number;
  /** Runs of the job: one; for a child, one for each row above it. */
  readonly runs: readonly ToldRun[];
  /** Report about the runs that ended; undefined in a trace that was read in part. */
  readonly report: JobReport | undefined;
}

export interface ToldRun {
  /** The page whose row started it; none for a job at the top. */
  readonly above: Position;
  /** Which row of that page, from 0. */
  readonly row: number | undefined;
  readonly iteration: number | undefined;
  /** The window of time that it asked for, in words. */
  readonly window: string | undefined;
  readonly pages: readonly ToldPage[];
}

export interface ToldPage {
  /** Page number from 1; for a step of an export, the number of times that it was requested. */
  readonly page: number;
  /** Step of an export, before its first page. */
  readonly step?: ExportStep;
  /** True when there are such steps before it. */
  readonly isExport?: boolean;
  readonly exchange: ExchangeJson;
  readonly body: BodyPlace;
  readonly note: ExplainNote;
  /**
   * `used`, or the reason why the page is not used: requested ahead and not needed, an answer that could not be used,
   * or the last page of a run that was stopped.
   */
  readonly fate: 'used' | 'ahead' | 'bad' | 'open';
  /** Origins of the values of this request. */
  readonly from: readonly Lead[];
}

/** A page as it is read; the rest follows from its neighbours. */
interface Read {
  readonly exchange: ExchangeJson;
  readonly body: BodyPlace;
  note: ExplainNote;
  readonly isBad: boolean;
}

interface ReadRun {
  readonly position: Position;
  readonly pages: Map<number, Read>;
}

interface ReadJob {
  readonly name: string;
  readonly level: number;
  readonly runs: Map<string, ReadRun>;
}

export interface PartOfStory {
  /** Number of requests at the beginning, and of those at the end. */
  readonly requests: number;
  /** Number of characters of the body of a request. */
  readonly bodyLength: number;
}

/**
 * Reads a recording. Bodies of answers stay in the file.
 *
 * @param part reads no more than that, without the headers of answers: then memory does not grow with the recording
 */
export function readStory(
  file: RecordFile,
  { from, end, drops, exchanges }: RecordingScan,
  part?: PartOfStory,
): Story {
  const jobs = new Map<string, ReadJob>();
  const all = new Map<number, Read>();
  const [leftFrom, leftTo] =
    part === undefined || exchanges <= 2 * part.requests
      ? [0, 0]
      : [part.requests, exchanges - part.requests];
  const limits: LimitJson[] = [];
  let count = 0;
  for (const record of recordsOf(file, from)) {
    if (record.at >= end) break;
    if (record.kind === 'exchange') {
      const number = count++;
      if (number >= leftFrom && number < leftTo) continue;
      const whole = exchangeOf(record);
      const isBad = drops.has(whole.position, record.at);
      const exchange = part === undefined ? whole : shortened(whole, part);
      const read = { exchange, body: record.body, note: {}, isBad };
      all.set(number, read);
      place(jobs, read);
    } else if (record.kind === 'limit') {
      limits.push(limitOf(record));
      if (limits.length > MOST_LIMITS) limits.shift();
    } else if (record.kind === 'note') {
      const { of, ...note } = readNote(record.json);
      const read = all.get(of);
      if (read !== undefined) read.note = { ...read.note, ...note };
    }
  }
  const leftOut = leftTo - leftFrom;
  if (leftOut === 0) return { jobs: Array.from(jobs.values(), told), limits };
  return { jobs: Array.from(jobs.values(), (job) => ({ ...told(job), report: undefined })), limits, leftOut };
}

const MOST_LIMITS = 500;

function shortened(exchange: ExchangeJson, { bodyLength }: PartOfStory): ExchangeJson {
  const { body = '' } = exchange.request;
  const request =
    body.length <= bodyLength
      ? exchange.request
      : { ...exchange.request, body: `${body.slice(0, bodyLength)}…` };
  return { ...exchange, request, headers: {} };
}

/** Finds a job by its position: several may have the same name. */
function place(jobs: Map<string, ReadJob>, read: Read): void {
  const { position } = read.exchange;
  const last = position.at(-1);
  if (last === undefined) return;
  const key = position.map(({ index }) => index).join('/');
  let job = jobs.get(key);
  if (job === undefined)
    jobs.set(key, (job = { name: last.job, level: position.length - 1, runs: new Map() }));
  const { export: step, ...ofRun } = last;
  const runKey = keyOf([...position.slice(0, -1), { ...ofRun, page: 0 }]);
  let run = job.runs.get(runKey);
  if (run === undefined) job.runs.set(runKey, (run = { position, pages: new Map() }));
  // a later answer replaces one that could not be used
  run.pages.set(step === undefined ? last.page : stepOrder(step, last.page), read);
}

function told({ name, level, runs }: ReadJob): JobTrace {
  const tally = new JobTally(name, '');
  const list = [...runs.values()].toSorted(byPlace).map(toldRun);
  for (const { pages } of list) {
    const judgement = judgementOf(pages);
    const reason = pages.findLast(({ note }) => note.stop !== undefined)?.note.stop;
    for (const { note, exchange, fate } of pages) {
      const { method, url } = exchange.request;
      if (fate === 'used' && note.taken !== undefined)
        tally.react([{ ...note.taken, answers: 1, request: `${method} ${url}` }]);
    }
    const used = pages.filter(
      ({ fate, note, step }) => fate === 'used' && step === undefined && !isRepeated(note),
    );
    const [first] = pages;
    if (reason === undefined || first === undefined) continue;
    tally.add({
      reason,
      judgement: judgement ?? { verdict: 'ended', doubts: [] },
      pages: used.length,
      rows: used.reduce((sum, { note }) => sum + (note.rows ?? 0), 0),
      rowsTwice: 0,
      request: `${first.exchange.request.method} ${first.exchange.request.url}`,
      ...(first.note.window === undefined ? {} : { window: first.note.window }),
    });
  }
  return { name, level, runs: list, report: tally.report(undefined, false) };
}

/** Orders the steps of an export before its pages, which are counted from 1. */
function stepOrder(step: ExportStep, times: number): number {
  return (EXPORT_STEPS.indexOf(step) - EXPORT_STEPS.length) * MOST_TIMES + times;
}

const MOST_TIMES = 1_000_000;

/** Compares runs by position. Answers come in any order when several requests are in flight. */
function byPlace({ position: a }: ReadRun, { position: b }: ReadRun): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) return 1;
    const isLast = i === a.length - 1;
    const difference =
      (left.iteration ?? 0) - (right.iteration ?? 0) ||
      left.index - right.index ||
      (left.row ?? 0) - (right.row ?? 0) ||
      (left.run ?? 0) - (right.run ?? 0) ||
      (left.over ?? 0) - (right.over ?? 0) ||
      (left.window ?? 0) - (right.window ?? 0) ||
      (isLast ? 0 : left.page - right.page);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns the judgement whether the pages of a run were all; undefined when the run did not end, or none was made. */
export function judgementOf(pages: readonly ToldPage[]): Judgement | undefined {
  return pages.find(({ note }) => note.judgement !== undefined)?.note.judgement;
}

const REPEATED = new Set(['sameResponse', 'repeatedRequest', 'repeatedRows']);

/** Tells whether a page ended the job because it came before: its rows are not written. */
export function isRepeated({ stop }: ExplainNote): boolean {
  return stop !== undefined && REPEATED.has(stop.code);
}

function toldRun({ position, pages }: ReadRun): ToldRun {
  const inOrder = [...pages].toSorted(([a], [b]) => a - b);
  // each file of an export has an end of its own
  const end = inOrder.findLast(([, { note }]) => note.stop !== undefined)?.[0] ?? Infinity;
  const isExport = (inOrder[0]?.[0] ?? 1) < 1;
  const step = position.at(-1);
  let before: { readonly order: number; readonly read: Read } | undefined;
  const list = inOrder.map(([order, read]): ToldPage => {
    const { exchange, body, note, isBad } = read;
    const own = exchange.position.at(-1);
    const page = own?.page ?? order;
    const isUsed = note.rows !== undefined;
    const fate = isBad ? 'bad' : order > end ? 'ahead' : isUsed ? 'used' : 'open';
    const from =
      order === 1
        ? parentLead(note.parameters)
        : before === undefined || (order > 1 && before.order < order - 1)
          ? []
          : leadOf(before.read.exchange.request, before.read.note, exchange.request);
    before = { order, read };
    const step = own?.export;
    return {
      page,
      ...(step === undefined ? {} : { step }),
      ...(isExport ? { isExport } : {}),
      exchange,
      body,
      note,
      fate,
      from,
    };
  });
  return {
    above: position.slice(0, -1),
    row: step?.row,
    iteration: step?.iteration,
    window: inOrder.find(([, { note }]) => note.window !== undefined)?.[1].note.window,
    pages: list,
  };
}
