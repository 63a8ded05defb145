import { systemEnv } from '../../../lib/env.ts';
import {
  getKey,
  isEmpty,
  isNumber,
  isObject,
  numberOf,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compileCondition, compileSource, CONTEXTS, type SourceOptions } from '../../language/index.ts';
import { checkKeys, kindOf, isNumericText } from '../../../lib/read-settings.ts';
import type { CallFunction } from '../../shared/evaluate.ts';
import { createCaller } from '../functions/evaluate.ts';
import { jobError, read } from '../read-job.ts';
import type { ExportDownload, ExportPace, ExportPoll, ExportSettings } from './export-settings.ts';

const UNITS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

const LONGEST_MS = 30 * 86_400_000;

/** Parses a duration: seconds as a number, or a text such as `30 seconds`, in milliseconds. */
function durationOf(value: Json | undefined, at: string): number {
  const ms = isNumber(value) ? numberOf(value) * 1000 : typeof value === 'string' ? msOf(value) : undefined;
  if (ms !== undefined && ms >= 0 && ms <= LONGEST_MS) return ms;
  throw jobError(
    at,
    `A time is expected here, not ${typeof value === 'string' ? `“${value}”` : kindOf(value)}`,
    'Write seconds as a number, or a text such as "30 seconds", "10 minutes" or "2 hours", up to 30 days.',
  );
}

function msOf(text: string): number | undefined {
  if (isNumericText(text)) return Number(text) * 1000;
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*$/i.exec(text) ?? [];
  const factor = Object.hasOwn(UNITS, unit.toLowerCase()) ? UNITS[unit.toLowerCase()] : undefined;
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

/** Default pauses: 1, 2, 4 … 60 seconds. */
const PACE: ExportPace = { fromMs: 1000, times: 2, mostMs: 60_000 };
const DEADLINE_MS = 3_600_000;

const KEYS = ['create', 'poll', 'address', 'download'];
const POLL_KEYS = ['until', 'failWhen', 'emptyWhen', 'message', 'every', 'deadline'];

/**
 * Reads `export` of a job.
 *
 * @param parseRequest reads a request, with all keys that requests of jobs have; `names` are placeholders beside its own
 * @throws {JobError} naming the path of the first mistake
 */
export function parseExport<Request>(
  job: AnyObject,
  jobAt: string,
  parseRequest: (node: AnyObject, at: string, names: readonly string[]) => Request,
): ExportSettings<Request> | undefined {
  const node = read.object(job, 'export', jobAt);
  if (node === undefined) return undefined;
  const at = `${jobAt}.export`;
  checkKeys(node, KEYS, at, jobError);
  const request = (key: string): Request | undefined => {
    const given = read.object(node, key, at);
    return given === undefined ? undefined : parseRequest(given, `${at}.${key}`, []);
  };
  const download = read.object(node, 'download', at);
  const create = request('create');
  const poll = parsePoll(node, at, parseRequest);
  if (create === undefined && poll === undefined && download === undefined)
    throw jobError(
      at,
      '“export” says neither how it is asked for nor how it is waited for',
      'Give “create”, “poll” and “download”; what is left out is the request of the job itself.',
    );
  return {
    at,
    // where the download is another request, the one of the job itself is what creates
    create: create ?? (download === undefined ? undefined : parseRequest(ownRequest(job), jobAt, [])),
    poll,
    address: request('address'),
    download:
      download === undefined ? { kind: 'own' } : parseDownload(download, `${at}.download`, parseRequest),
  };
}

/** Removes the settings of the job that do not belong to its request. */
function ownRequest(job: AnyObject): AnyObject {
  return ['export', 'children', 'windows', 'pagination', 'scroller'].reduce(
    (node, key) => withoutKey(node, key),
    job,
  );
}

function parsePoll<Request>(
  node: AnyObject,
  exportAt: string,
  parseRequest: (node: AnyObject, at: string, names: readonly string[]) => Request,
): ExportPoll<Request> | undefined {
  const poll = read.object(node, 'poll', exportAt);
  if (poll === undefined) return undefined;
  const at = `${exportAt}.poll`;
  const until = getKey(poll, 'until');
  if (until === undefined || isEmpty(until))
    throw jobError(
      `${at}.until`,
      '“until” is missing: it says when the export is done',
      'Write a condition, such as {"value": "status", "is": "equals", "than": "done"}.',
    );
  const condition = (key: string): Json | undefined => {
    const value = getKey(poll, key);
    if (value === undefined || isEmpty(value)) return undefined;
    compileCondition(value, exportOptions(`${at}.${key}`));
    return value;
  };
  condition('until');
  const message = getKey(poll, 'message');
  if (message !== undefined && !isEmpty(message)) compileSource(message, exportOptions(`${at}.message`));
  const rest = POLL_KEYS.reduce((left, key) => withoutKey(left, key), poll);
  const deadline = getKey(poll, 'deadline');
  return {
    request: parseRequest(rest, at, []),
    until,
    failWhen: condition('failWhen'),
    emptyWhen: condition('emptyWhen'),
    message: message === undefined || isEmpty(message) ? undefined : message,
    pace: paceOf(getKey(poll, 'every'), `${at}.every`),
    deadlineMs: isEmpty(deadline) ? DEADLINE_MS : durationOf(deadline, `${at}.deadline`),
  };
}

function paceOf(value: Json | undefined, at: string): ExportPace {
  if (value === undefined || isEmpty(value)) return PACE;
  if (!isObject(value)) {
    const ms = durationOf(value, at);
    return { fromMs: ms, times: 1, mostMs: ms };
  }
  checkKeys(value, ['from', 'to', 'times'], at, jobError);
  const [from, to, times] = [getKey(value, 'from'), getKey(value, 'to'), getKey(value, 'times') ?? 2];
  if (!isNumber(times) || numberOf(times) < 1)
    throw jobError(`${at}.times`, `“times” must be a number of at least 1, not ${kindOf(times)}`);
  const fromMs = from === undefined ? PACE.fromMs : durationOf(from, `${at}.from`);
  return {
    fromMs,
    times: numberOf(times),
    mostMs: Math.max(fromMs, to === undefined ? PACE.mostMs : durationOf(to, `${at}.to`)),
  };
}

function parseDownload<Request>(
  node: AnyObject,
  at: string,
  parseRequest: (node: AnyObject, at: string, names: readonly string[]) => Request,
): ExportDownload<Request> {
  const from = getKey(node, 'from');
  const each = getKey(node, 'each');
  if (from !== undefined && !isEmpty(from)) {
    checkKeys(node, ['from', 'headers'], at, jobError);
    compileSource(from, exportOptions(`${at}.from`));
    return { kind: 'address', from, headers: read.map(node, 'headers', at) ?? {} };
  }
  const isEach = each !== undefined && !isEmpty(each);
  if (isEach) compileSource(each, exportOptions(`${at}.each`));
  const request = parseRequest(withoutKey(node, 'each'), at, isEach ? ['item'] : []);
  return { kind: 'request', request, each: isEach ? each : undefined };
}

/** Kinds of sources in conditions and settings: an answer of the export, and the contexts of the run. */
const KINDS = [
  'path',
  'response',
  'header',
  'link',
  'request',
  'answer',
  'value',
  'firstOf',
  ...CONTEXTS,
] as const;

/** @param call without it, functions are known and checked, but those of time have no moment to go by */
export function exportOptions(
  at: string,
  call: CallFunction = createCaller(systemEnv, { placeholders: true }),
): SourceOptions {
  return { at, call, kinds: KINDS, invalid: jobError };
}
