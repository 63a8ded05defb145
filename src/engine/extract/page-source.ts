import { RecordError } from '../../lib/errors.ts';
import { charsetOf, textOf, type FormatRows, type Measured } from '../formats/index.ts';
import type { ApiRequest, ApiResponse, JobRequest, Send } from '../shared/message.ts';
import type { Contexts } from '../shared/evaluate.ts';
import { contextsOf, type Job, type JobInvocation } from '../jobs/index.ts';
import {
  compilePath,
  objectOf,
  parseExact,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { silentLog, type Log } from '../../lib/log.ts';
import type { View } from '../language/index.ts';
import type { Needs } from '../pagination/index.ts';
import type { Decision, PageSource } from '../pagination/pages.ts';
import type { ExchangeMoment } from '../recording/exchange.ts';
import type { RecordedAnswer, Exchanges, KeptAnswers } from '../recording/exchanges.ts';
import type { RunPlace } from '../recording/position.ts';
import { readPage, type Page } from '../records/page.ts';
import { readRows, type RowsOptions } from '../records/read-rows.ts';
import type { RowsAt } from '../records/rows-at.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Traits } from '../shared/paginator-capabilities.ts';
import type { Judgement } from '../completeness/index.ts';
import type { StreamAgain } from './table-writer.ts';
import { PageContent, type ResponseFilter } from './content.ts';
import type { PageSteps } from './page-steps.ts';
import { fileRule, formatPage, formatRows, type FileAnswer } from './format-page.ts';
import type { UnmatchedPaths } from './miss-watch.ts';
import { pageView } from './page-view.ts';
import type { ResponseRules, Taken } from './reactor.ts';
import type { Repeats } from './repeats.ts';

export interface PageSourceOptions {
  readonly send: Send;
  readonly buildRequest: (request: JobRequest, label: string) => ApiRequest;
  readonly exchanges: Exchanges;
  /** Statuses whose body is data, whatever it is. */
  readonly ignoreErrors: readonly number[];
  /** Rows keep every literal as it is written. */
  readonly isExactJson: boolean;
  readonly log: Log;
  readonly secrets: Secrets;
  /** Contexts that every job has: `attr`, `time`. */
  readonly contexts: Contexts;
}

/** One run of a job, and what is seen of its pages. */
export interface SourceRun {
  readonly job: Job;
  readonly run: JobInvocation;
  readonly place: RunPlace;
  readonly began: ExchangeMoment;
  readonly filter: ResponseFilter | undefined;
  readonly rowsAt: RowsAt | undefined;
  /** Headers that are wanted of the answers, beside those of the pagination. */
  readonly headers: readonly string[];
  /** Returns the steps for the rows of a page; undefined if there are none. */
  readonly stepsOf: ((page: ArrivedPage) => PageSteps | undefined) | undefined;
  readonly needs: Needs;
  /** How the pagination comes from page to page, where it says so. */
  readonly traits: Traits | undefined;
  readonly watch: UnmatchedPaths;
  /** The window of time that it asks for, in words. */
  readonly window?: string | undefined;
  readonly reactor: ResponseRules;
  /** Detector of repeated rows; undefined if the pages never begin again. */
  readonly repeats: Repeats | undefined;
  /** Contexts that sources may refer to by name. */
  readonly contexts: () => Contexts;
}

/** A page, with what was asked for. */
export interface ArrivedPage {
  readonly request: JobRequest;
  /** From 1. */
  readonly number: number;
  readonly answer: RecordedAnswer;
  readonly page: Page;
}

/** Gets the pages of one run of a job: from the API, or from what was recorded. */
export function pageSource(run: SourceRun, options: PageSourceOptions): PageSource<PageContent> {
  const { job, place, began, filter, rowsAt, stepsOf, needs, traits, watch, window, reactor, contexts } = run;
  const asks = traits && asksOf(traits);
  // those that are inherited are told of the jobs above
  const own = new Set(job.placeholders.map(({ name }) => name));
  const lists = (job.over ?? []).map(({ name }) => name);
  const parameters = run.run.parameters.filter(
    ({ name }) => own.has(name) || lists.some((list) => name === list || name.startsWith(`${list}.`)),
  );
  const headerNames = [...new Set([...(needs.headers ?? []), ...reactor.headers, ...run.headers])];
  const { send, buildRequest, exchanges, secrets } = options;
  /** Rows of the pages that were observed. */
  let total = 0;
  const { repeats } = run;
  /** The view of the page that was observed last, until it is decided what follows. */
  let seen: View | undefined;
  return {
    async fetch(request, page, signal) {
      const wire = buildRequest(request, job.name);
      const read = readerOf({ job, rowsAt }, request.endpoint, options);
      const exchanged = reactor.isIdle
        ? undefined
        : {
            request,
            page,
            now: began.now,
            contexts: () => contextsOf(run.run, options.contexts),
            pageOf: read.silently,
          };
      const ask = { place, page, began, request: wire, headers: headerNames, signal };
      const react = exchanged === undefined ? {} : { react: reactor.react(exchanged) };
      const answer = await exchanges.ask(ask, (spool) =>
        send(wire, { signal, file: fileRule(job, spool), ...react }),
      );
      try {
        const taken = exchanged && reactor.taken(answer.response, exchanged);
        if (taken?.do === 'empty' || taken?.do === 'skip')
          return withoutBody(request, wire, answer, filter, taken);
        const content = await read.page(answer.response);
        const steps = stepsOf?.({ request, number: page, answer, page: content });
        return new PageContent(wire, answer, content, { asked: request, filter, steps, taken });
      } catch (error) {
        exchanges.drop(place, page);
        throw error;
      }
    },
    isLive: ({ answer }) => !answer.isRecorded,
    ends: ({ taken }, page) =>
      taken?.do === 'skip' ? { code: 'skipped', page, at: taken.at, text: taken.why } : undefined,
    observe(content, wanted, page) {
      total += content.page.rows;
      repeats?.see(content);
      seen = pageView(content, { page, read: total, request: content.asked, contexts });
      return content.observe(wanted, page, seen);
    },
    digests: (content) => ({
      request: content.requestDigest,
      body: content.page.digest,
      rows: content.page.rowsDigest,
      count: content.page.rows,
      describe: () => `${content.request.method} ${secrets.redactUrl(content.request.url)}`,
    }),
    decided({ answer, page, taken }, decision) {
      const { observation } = decision;
      if (observation !== undefined && seen !== undefined)
        watch.see(needs, observation, seen, () => page.envelope);
      seen = undefined;
      if ('request' in decision.next && decision.next.restarts === true) repeats?.begin();
      if (answer.kept !== undefined)
        exchanges.note(
          answer.kept,
          noteOf(decision, { needs, asks, rows: page.rows, parameters, window, taken }),
        );
    },
  };
}

/** A job, and the form of its rows. */
interface JobReading {
  readonly job: Job;
  readonly rowsAt: RowsAt | undefined;
}

type ReadingOptions = Pick<PageSourceOptions, 'ignoreErrors' | 'isExactJson' | 'log' | 'secrets'>;

/** Reads the page in an answer, in whatever format it is. */
function readerOf(reading: JobReading, endpoint: string, options: ReadingOptions): Reader {
  let last: { readonly body: ApiResponse['body']; readonly page: Page } | undefined;
  /** Parses a JSON document, once for all its readers. */
  const json = (response: ApiResponse, log: Log): Page => {
    if (last?.body !== response.body)
      last = { body: response.body, page: readAnswer(reading, endpoint, response, { ...options, log }) };
    return last.page;
  };
  return {
    async page(response) {
      const rows = rowsOf(reading, endpoint, response, options);
      return rows === undefined ? json(response, options.log) : await pageOf(rows, response, options);
    },
    silently: (response) =>
      rowsOf(reading, endpoint, response, options) === undefined ? json(response, silentLog) : undefined,
  };
}

/** Creates a reader for an answer without rows: all of it, if it is JSON. */
export function silentReader(job: Job, endpoint: string, options: ReadingOptions): Reader['silently'] {
  const whole = { ...job, dataField: compilePath('.') };
  const { silently } = readerOf({ job: whole, rowsAt: undefined }, endpoint, options);
  return (response) => {
    try {
      return silently(response);
    } catch (error) {
      if (error instanceof RecordError) return undefined;
      throw error;
    }
  };
}

interface Reader {
  readonly page: (response: ApiResponse) => Promise<Page>;
  /** The page, where it is a JSON document, without a word about what it is not. */
  readonly silently: (response: ApiResponse) => Page | undefined;
}

async function pageOf(rows: FormatRows, response: ApiResponse, options: ReadingOptions): Promise<Page> {
  try {
    return await formatPage(rows, response);
  } catch (error) {
    throw placed(error, response.url, options);
  }
}

/** Returns the rows of an answer that is read again; undefined if it is JSON. */
export function rowsAgain(
  reading: JobReading,
  response: FileAnswer,
  options: ReadingOptions,
): StreamAgain | undefined {
  const rows = rowsOf(reading, reading.job.endpoint, response, options);
  let measured: Measured | undefined;
  return rows && { chunks: () => rows.chunks(), envelope: () => (measured ??= measure(rows)).envelope };
}

function measure(rows: FormatRows): Measured {
  const steps = rows.measure();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Returns the rows of a body in another format; undefined for an error status that is ignored, whose body is read as
 * JSON, or as text.
 */
function rowsOf(
  reading: JobReading,
  endpoint: string,
  response: FileAnswer,
  options: ReadingOptions,
): FormatRows | undefined {
  if (response.status >= 400) return undefined;
  try {
    return formatRows(reading.job, response, readOptions(reading, endpoint, response, options));
  } catch (error) {
    throw placed(error, response.url, options);
  }
}

function placed(error: unknown, url: string, { secrets }: ReadingOptions): unknown {
  return error instanceof RecordError ? error.at({ url: secrets.redactUrl(url) }) : error;
}

function readOptions(
  { job, rowsAt }: JobReading,
  endpoint: string,
  { url, headers }: Pick<ApiResponse, 'url' | 'headers'>,
  { isExactJson, secrets }: Pick<ReadingOptions, 'isExactJson' | 'secrets'>,
): RowsOptions {
  return {
    dataField: job.dataField,
    otherFields: job.otherFields,
    rowsAt,
    endpoint,
    charset: charsetOf(headers),
    isExact: isExactJson,
    describeUrl: () => secrets.redactUrl(url),
    redact: (text: string) => secrets.redact(text),
  };
}

/** Returns a page without a body, for an answer that a reaction treats as empty: it ends the job. */
function withoutBody(
  asked: JobRequest,
  request: ApiRequest,
  answer: RecordedAnswer,
  filter: ResponseFilter | undefined,
  taken: Taken,
): PageContent {
  const body = new Uint8Array(0);
  const page = readPage(body, {
    dataField: undefined,
    endpoint: '',
    describeUrl: () => '',
    redact: (text) => text,
  });
  const { large: _large, unpacked: _unpacked, ...response } = answer.response;
  return new PageContent(request, { ...answer, response: { ...response, body } }, page, {
    asked,
    filter,
    taken,
  });
}

/**
 * Returns the page in an answer. A body that is no JSON is an error, unless its status is to be ignored: it is then
 * data.
 */
export function readAnswer(
  reading: JobReading,
  endpoint: string,
  {
    body: held,
    large,
    status,
    url,
    headers,
  }: Pick<ApiResponse, 'body' | 'large' | 'status' | 'url' | 'headers'>,
  { ignoreErrors, isExactJson, log, secrets }: ReadingOptions,
): Page {
  const options = readOptions(reading, endpoint, { url, headers }, { isExactJson, secrets });
  // another error comes here only where a reaction takes it
  const isIgnored = status >= 400 || ignoreErrors.includes(status);
  try {
    const page = readRows(large ?? held, options);
    // Rows are decoded when they are used, which is too late to take the body as text.
    if (isIgnored) page.response();
    return page;
  } catch (error) {
    if (!isIgnored || !(error instanceof RecordError) || error.code !== 'response.notJson') throw error;
    log.warn(`A body that is not JSON came with the ignored status ${status}: its text becomes “errorData”`, {
      job: reading.job.name,
    });
    const errorData = textOf(large?.read(0, large.bytes) ?? held, headers);
    return readPage(Buffer.from(JSON.stringify({ errorData })), { ...options, charset: undefined });
  }
}

/** Returns the note on how the pagination comes from page to page. */
function asksOf({ kind, size }: Traits): AnyObject {
  return objectOf(Object.entries({ kind, ...(size === undefined ? {} : { size }) }));
}

/** Creates the recording's note on a page: the values that the pagination used, and the reason why the job ended. */
function noteOf(
  { observation, next }: Decision,
  {
    needs,
    asks,
    rows,
    parameters,
    window,
    taken,
  }: {
    needs: Needs;
    asks: AnyObject | undefined;
    rows: number;
    parameters: JobInvocation['parameters'];
    window: string | undefined;
    taken: Taken | undefined;
  },
): AnyObject {
  const note: [string, Json][] = [['rows', rows]];
  if (observation !== undefined) {
    const { page, values, read, headers, ids } = observation;
    const looked = [
      ...(needs.paths ?? []).map(({ text }, i) => [text, values[i] ?? null] as const),
      ...(needs.sources ?? []).map(({ text }, i) => [text, read[i] ?? null] as const),
    ];
    if (looked.length > 0) note.push(['values', objectOf(looked)]);
    const kept = Object.entries(headers);
    if (kept.length > 0) note.push(['headers', objectOf(kept)]);
    if (ids !== undefined) note.push(['ids', [needs.ids?.text ?? '', toText(ids.min), toText(ids.max)]]);
    if (page === 1 && parameters.length > 0)
      note.push(['parameters', parameters.map(({ name, path, value }) => [name, path ?? name, value])]);
  }
  // where the pages begin anew it is by the last row, whatever the method is
  if (asks !== undefined && 'request' in next && next.restarts !== true) note.push(['asks', asks]);
  if (window !== undefined) note.push(['window', window]);
  if (taken !== undefined) note.push(['taken', objectOf(Object.entries(taken))]);
  if ('stop' in next) note.push(['stop', objectOf(Object.entries(next.stop))]);
  return objectOf(note);
}

/** Keeps beside the last page of a run of a job whether its pages were all. */
export function noteJudgement(
  judgement: Judgement | undefined,
  reason: Reason,
  kept: KeptAnswers | undefined,
  exchanges: Exchanges,
): void {
  if (kept === undefined || judgement === undefined) return;
  // an export ends for another reason than the last page of its last file
  const stop = reason.code === 'export' ? [['stop', objectOf(Object.entries(reason))] as const] : [];
  exchanges.note(kept, objectOf([...stop, ['judgement', parseExact(JSON.stringify(judgement))]]));
}
