import { STATUS_CODES } from 'node:http';
import { describeError, type ErrorCode } from '../../lib/errors.ts';
import type { ProbedExchange, ApiProbe } from '../../engine/extract/probe.ts';
import { objectOf, parseExact, type Json } from '../../lib/json/index.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Action } from './action.ts';
import { createDebugLog } from './debug-log.ts';
import { isLogin, maskBody, maskJson, textOf } from './mask.ts';
import { probeSelected } from './selection.ts';
import { shorten } from './shorten.ts';

/**
 * `test_request`: makes the request of the job in `parameters.__SELECTED_JOB`, first page only, a child for the first
 * rows of its parents, with ten calls at most. Gives
 * `{ response: { status_code, reason, data, headers }, request: { url, method, data, headers }, records, debug_log }`:
 * the last exchange of the job, and the rows of all its calls. An answer with an error status, or with a body that
 * is no JSON, is a result and no error. Secrets are hidden everywhere.
 */
export const testRequest: Action = {
  name: 'test_request',
  run: async (context) => {
    const { secrets } = context;
    const { log, text } = createDebugLog(secrets, context.log);
    const result = await probeSelected({ ...context, log });
    const { failure, pages } = result;
    const exchange = exchangeToShow(result);
    if (failure !== undefined) {
      if (!ANSWERS.includes(failure.code) || exchange === undefined) throw failure;
      log.error(describeError(failure));
    }
    if (exchange === undefined) throw new Error('a job ended without a request');
    if (exchange.request.label !== result.job.name)
      log.warn(
        `“${result.job.name}” was not called: this is the last answer of “${exchange.request.label ?? ''}” above it`,
      );

    const rows = pages.flatMap((page) => page.rows);
    if (rows.length > MAX_RECORDS) log.info(`Of ${rows.length} records the first ${MAX_RECORDS} are shown`);
    const show = (value: Json, name: string): Json => {
      const { value: shown, isCut } = shorten(maskJson(value, secrets));
      if (isCut) log.info(`“${name}” is large: its lists and texts are shown in part`);
      return shown;
    };
    const response = responseOf(exchange, secrets, show);
    const request = requestOf(exchange, secrets, show);
    const records = show(rows.slice(0, MAX_RECORDS), 'records');
    return objectOf([
      ['response', response],
      ['request', request],
      ['records', records],
      ['debug_log', text()],
    ]);
  },
};

const MAX_RECORDS = 100;

type Show = (value: Json, name: string) => Json;

/** Returns the exchange that failed, else the last one of the job, else the last one above it. */
function exchangeToShow({ exchanges, job, failure }: ApiProbe): ProbedExchange | undefined {
  const calls = exchanges.filter(({ request }) => !isLogin(request));
  const own = failure === undefined ? calls.filter(({ request }) => request.label === job.name) : [];
  return own.at(-1) ?? calls.at(-1);
}

/** The API answered, though not as a run needs it. */
const ANSWERS: readonly ErrorCode[] = [
  'http.status',
  'http.declared',
  'response.notJson',
  'response.shape',
  'records.invalid',
];

function responseOf({ response }: ProbedExchange, secrets: Secrets, show: Show): Json {
  return objectOf([
    ['status_code', response.status],
    ['reason', STATUS_CODES[response.status] ?? ''],
    ['data', show(dataOf(response.body), 'response.data')],
    ['headers', objectOf(Object.entries(secrets.redactHeaders(response.headers)))],
  ]);
}

function requestOf({ request }: ProbedExchange, secrets: Secrets, show: Show): Json {
  return objectOf([
    ['url', secrets.redactUrl(request.url)],
    ['method', request.method],
    [
      'data',
      request.body === undefined ? null : show(maskBody(textOf(request.body), secrets), 'request.data'),
    ],
    ['headers', objectOf(Object.entries(secrets.redactHeaders(request.headers)))],
  ]);
}

/** Parses a body as JSON, also behind a byte order mark; anything else is text. */
function dataOf(body: Uint8Array): Json {
  const text = new TextDecoder().decode(body);
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}
