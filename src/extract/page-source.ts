import { RecordError } from '../errors.ts';
import type { FormatRows } from '../formats/index.ts';
import type { ApiRequest, ApiResponse, JobRequest, Send } from '../http/message.ts';
import type { Job, JobRun } from '../jobs/index.ts';
import { objectOf, parseExact, toText, type AnyObject, type Json } from '../json/index.ts';
import type { Log } from '../log.ts';
import type { Needs } from '../pagination/index.ts';
import type { Decision, PageSource } from '../pagination/pages.ts';
import type { Moment } from '../recording/exchange.ts';
import type { Exchanges, Kept } from '../recording/exchanges.ts';
import type { RunPlace } from '../recording/position.ts';
import { readPage, type Page, type ReadOptions } from '../records/page.ts';
import type { Secrets } from '../secrets.ts';
import type { Judgement } from '../verdict/index.ts';
import { PageContent, type RowFilter } from './content.ts';
import { fileRule, formatPage, formatRows, type FileAnswer } from './format-page.ts';
import type { MissWatch } from './miss-watch.ts';

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
}

/** One run of a job, and what is seen of its pages. */
export interface SourceRun {
  readonly job: Job;
  readonly run: JobRun;
  readonly place: RunPlace;
  readonly began: Moment;
  readonly filter: RowFilter | undefined;
  readonly needs: Needs;
  readonly watch: MissWatch;
  /** The window of time that it asks for, in words. */
  readonly window?: string | undefined;
}

/** Gets the pages of one run of a job: from the API, or from what was recorded. */
export function pageSource(run: SourceRun, options: PageSourceOptions): PageSource<PageContent> {
  const { job, place, began, filter, needs, watch, window } = run;
  // those that are inherited are told of the jobs above
  const own = new Set(job.placeholders.map(({ name }) => name));
  const parameters = run.run.parameters.filter(({ name }) => own.has(name));
  const { send, buildRequest, exchanges, secrets } = options;
  return {
    async fetch(request, page, signal) {
      const wire = buildRequest(request, job.name);
      const ask = { place, page, began, request: wire, headers: needs.headers ?? [], signal };
      const answer = await exchanges.ask(ask, async (spool) =>
        send(wire, { signal, file: fileRule(job, spool) }),
      );
      try {
        return new PageContent(
          wire,
          answer,
          await readAnswerOf(job, request.endpoint, answer.response, options),
          filter,
        );
      } catch (error) {
        exchanges.drop(place, page);
        throw error;
      }
    },
    isLive: ({ answer }) => !answer.isRecorded,
    observe(content, wanted, page) {
      const observation = content.observe(wanted, page);
      watch.see(wanted, observation, () => content.page.envelope);
      return observation;
    },
    digests: (content) => ({
      request: content.requestDigest,
      body: content.page.digest,
      rows: content.page.rowsDigest,
      count: content.page.rows,
      describe: () => `${content.request.method} ${secrets.redactUrl(content.request.url)}`,
    }),
    decided({ answer, page }, decision) {
      if (answer.kept !== undefined)
        exchanges.note(answer.kept, noteOf(decision, { needs, rows: page.rows, parameters, window }));
    },
  };
}

type ReadingOptions = Pick<PageSourceOptions, 'ignoreErrors' | 'isExactJson' | 'log' | 'secrets'>;

/** The page in an answer, in whatever format it is. */
async function readAnswerOf(
  job: Job,
  endpoint: string,
  response: ApiResponse,
  options: ReadingOptions,
): Promise<Page> {
  const rows = rowsOf(job, endpoint, response, options);
  if (rows === undefined) return readAnswer(job, endpoint, response, options);
  try {
    return await formatPage(rows, response);
  } catch (error) {
    throw placed(error, response.url, options);
  }
}

/** The rows of an answer that was read before; undefined where it is JSON. */
export function rowsAgain(job: Job, response: FileAnswer, options: ReadingOptions): FormatRows | undefined {
  return rowsOf(job, job.endpoint, response, options);
}

/** What came with an error status that is to be ignored is taken as JSON, or as text. */
function rowsOf(
  job: Job,
  endpoint: string,
  response: FileAnswer,
  options: ReadingOptions,
): FormatRows | undefined {
  if (response.status >= 400) return undefined;
  try {
    return formatRows(job, response, readOptions(job, endpoint, response.url, options));
  } catch (error) {
    throw placed(error, response.url, options);
  }
}

function placed(error: unknown, url: string, { secrets }: ReadingOptions): unknown {
  return error instanceof RecordError ? error.at({ url: secrets.redactUrl(url) }) : error;
}

function readOptions(
  job: Job,
  endpoint: string,
  url: string,
  { isExactJson, secrets }: Pick<ReadingOptions, 'isExactJson' | 'secrets'>,
): ReadOptions {
  return {
    dataField: job.dataField,
    endpoint,
    isExact: isExactJson,
    describeUrl: () => secrets.redactUrl(url),
    redact: (text: string) => secrets.redact(text),
  };
}

/**
 * The page in an answer. A body that is no JSON is an error, unless its status is to be ignored: it is then data (spec
 * extractor 6.6).
 */
export function readAnswer(
  job: Job,
  endpoint: string,
  { body: held, large, status, url }: Pick<ApiResponse, 'body' | 'large' | 'status' | 'url'>,
  { ignoreErrors, isExactJson, log, secrets }: ReadingOptions,
): Page {
  const options = readOptions(job, endpoint, url, { isExactJson, secrets });
  // a JSON document is one page, however it came
  const body = large === undefined ? held : large.read(0, large.bytes);
  const isIgnored = ignoreErrors.includes(status);
  try {
    const page = readPage(body, options);
    // Rows are decoded when they are used, which is too late to take the body as text.
    if (isIgnored) page.response();
    return page;
  } catch (error) {
    if (!isIgnored || !(error instanceof RecordError) || error.code !== 'response.notJson') throw error;
    log.warn(`A body that is not JSON came with the ignored status ${status}: its text becomes “errorData”`, {
      job: job.name,
    });
    const errorData = Buffer.from(body).toString('utf8');
    return readPage(Buffer.from(JSON.stringify({ errorData })), options);
  }
}

/** What the recording keeps of a page beside its exchange: what the pagination saw of it, and why it ended the job. */
function noteOf(
  { observation, next }: Decision,
  {
    needs,
    rows,
    parameters,
    window,
  }: { needs: Needs; rows: number; parameters: JobRun['parameters']; window: string | undefined },
): AnyObject {
  const note: [string, Json][] = [['rows', rows]];
  if (observation !== undefined) {
    const { page, values, headers, ids } = observation;
    const looked = (needs.paths ?? []).map(({ text }, i) => [text, values[i] ?? null] as const);
    if (looked.length > 0) note.push(['values', objectOf(looked)]);
    const kept = Object.entries(headers);
    if (kept.length > 0) note.push(['headers', objectOf(kept)]);
    if (ids !== undefined) note.push(['ids', [needs.ids?.text ?? '', toText(ids.min), toText(ids.max)]]);
    if (page === 1 && parameters.length > 0)
      note.push(['parameters', parameters.map(({ name, path, value }) => [name, path ?? name, value])]);
  }
  if (window !== undefined) note.push(['window', window]);
  if ('stop' in next) note.push(['stop', objectOf(Object.entries(next.stop))]);
  return objectOf(note);
}

/** Keeps beside the last page of a run of a job whether its pages were all. */
export function noteJudgement(
  judgement: Judgement | undefined,
  kept: Kept | undefined,
  exchanges: Exchanges,
): void {
  if (kept === undefined || judgement === undefined) return;
  exchanges.note(kept, objectOf([['judgement', parseExact(JSON.stringify(judgement))]]));
}
