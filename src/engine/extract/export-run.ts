import type { Env } from '../../lib/env.ts';
import { HttpError, RecordError, RunError } from '../../lib/errors.ts';
import type { CallFunction, Contexts, Evaluate } from '../shared/evaluate.ts';
import { headerOf, type JobRequest } from '../shared/message.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import {
  contextsOf,
  exportOptions,
  firstRequest,
  withComputed,
  type ExportPoll,
  type ExportSettings,
  type Job,
  type JobInvocation,
} from '../jobs/index.ts';
import { isList, isScalar, toJsonText, toText, type AnyObject, type Json } from '../../lib/json/index.ts';
import { compileCondition, compileSource, type Condition, type View } from '../language/index.ts';
import type { ExchangeMoment } from '../recording/exchange.ts';
import type { KeptAnswers } from '../recording/exchanges.ts';
import type { ExportStep, RunPlace } from '../recording/position.ts';
import { contextOf, headersIn, stepAnswer, type StepAnswer } from './export-answer.ts';
import { silentReader, type PageSourceOptions } from './page-source.ts';
import type { ResponseRules } from './reactor.ts';

export interface ExportRunOptions extends PageSourceOptions {
  readonly job: Job;
  readonly settings: ExportSettings<Job>;
  readonly run: JobInvocation;
  readonly place: RunPlace;
  readonly began: ExchangeMoment;
  readonly evaluate: Evaluate;
  readonly call: CallFunction;
  readonly contexts: Contexts;
  readonly env: Pick<Env, 'sleep'>;
  readonly signal: AbortSignal;
  /** Puts what the last run left into the request that decides what comes: the creation, or else the download. */
  readonly put: (request: JobRequest) => JobRequest;
  /** Response rules of the configuration, which apply to these answers, too. */
  readonly reactor: ResponseRules;
}

/** Downloads of an export, in order. */
export interface ExportFiles {
  readonly requests: readonly JobRequest[];
  /** True if the answer with the addresses of the files was recorded before: an address in it may have expired. */
  readonly isRecorded: boolean;
}

/**
 * Brings an export to the point where it can be downloaded: creates it, waits until the API says that it is done, asks
 * for the address of its file. Each of these is an exchange of the recording, at a place of its own before the first
 * page, so that a run that goes on neither creates an export again nor asks for what it knows.
 */
export class ExportRun {
  readonly #options: ExportRunOptions;
  readonly #own: Record<string, AnyObject> = {};
  readonly #headers: readonly string[];
  #last: StepAnswer | undefined;
  #polls = 0;
  readonly #answers = new Map<ExportStep, Json>();

  constructor(options: ExportRunOptions) {
    this.#options = options;
    this.#headers = headersIn(options.settings);
  }

  /** Place of the last answer before the files in the recording. */
  get kept(): KeptAnswers | undefined {
    return this.#last?.answer.kept;
  }

  /** The last answers before the files, which may say what those have. */
  get answers(): readonly Json[] {
    const { poll, address } = this.#options.settings;
    const steps: readonly ExportStep[] =
      poll === undefined && address === undefined ? ['create'] : ['poll', 'address'];
    return steps.map((step) => this.#answers.get(step) ?? null);
  }

  /**
   * @throws {RunError} `export.failed` when the API says so, or gives no file; `export.late` at the deadline
   */
  async files(): Promise<ExportFiles> {
    const { create, poll } = this.#options.settings;
    if (create !== undefined) {
      const created = await this.#ask('create', 1, create);
      this.#own['created'] = contextOf(created);
    }
    const startedAt = this.#last?.answer.now;
    return poll === undefined ? await this.#found() : await this.#wait(poll, startedAt);
  }

  /** Repeats the last step, when the recorded addresses are no longer valid. */
  async again(): Promise<ExportFiles> {
    const { create, poll, address } = this.#options.settings;
    if (address !== undefined) this.#drop('address', 1);
    if (poll === undefined) {
      if (address === undefined && create !== undefined) this.#drop('create', 1);
      return await this.files();
    }
    this.#drop('poll', this.#polls);
    this.#polls--;
    return await this.#wait(poll, undefined);
  }

  async #wait(poll: ExportPoll<Job>, startedAt: number | undefined): Promise<ExportFiles> {
    const { env, log, job, signal, call, settings } = this.#options;
    const { pace, deadlineMs } = poll;
    const at = `${settings.at}.poll`;
    const compiled = (value: Json, key: string) =>
      compileCondition(value, exportOptions(`${at}.${key}`, call));
    const until = compiled(poll.until, 'until');
    const failWhen = poll.failWhen === undefined ? undefined : compiled(poll.failWhen, 'failWhen');
    const emptyWhen = poll.emptyWhen === undefined ? undefined : compiled(poll.emptyWhen, 'emptyWhen');
    let pauseMs = pace.fromMs;
    for (let began = startedAt; ;) {
      const polled = await this.#ask('poll', ++this.#polls, poll.request);
      this.#own['polled'] = contextOf(polled);
      const { answer } = polled;
      began ??= answer.now;
      const view = this.#view(polled);
      if (failWhen?.holds(view) === true) throw this.#failed(seenBy(failWhen, view), poll, view);
      if (emptyWhen?.holds(view) === true) return { requests: [], isRecorded: answer.isRecorded };
      if (until.holds(view)) return await this.#found();
      const told = retryAfterMs(headerOf(answer.response.headers, 'retry-after'), answer.now);
      const waitMs = told ?? pauseMs;
      if (answer.now + waitMs - began > deadlineMs) throw this.#late(seenBy(until, view), poll);
      log.debug(`The export of “${job.name}” is not ready: ${seenBy(until, view)}`, {
        job: job.name,
        waitMs,
      });
      if (!answer.isRecorded) await env.sleep(waitMs, signal);
      pauseMs = Math.min(pauseMs * pace.times, pace.mostMs);
    }
  }

  /** The requests for the files, by the last answer. */
  async #found(): Promise<ExportFiles> {
    const { create, address, download } = this.#options.settings;
    if (address !== undefined) {
      const answered = await this.#ask('address', 1, address);
      this.#own['polled'] = contextOf(answered);
    }
    const isRecorded = this.#last?.answer.isRecorded === true;
    if (download.kind === 'own') {
      const own = this.#request(this.#options.job);
      return { requests: [create === undefined ? this.#options.put(own) : own], isRecorded };
    }
    if (download.kind === 'address') return { requests: this.#addressed(download), isRecorded };
    const { request, each } = download;
    if (each === undefined) return { requests: [this.#request(request)], isRecorded };
    const items = this.#values(each, `${this.#options.settings.at}.download.each`);
    return { requests: items.map((item) => this.#request(request, item)), isRecorded };
  }

  #addressed({ from, headers }: { readonly from: Json; readonly headers: AnyObject }): JobRequest[] {
    const common = { method: 'GET', params: {}, fromResponse: true, isDownload: true };
    return this.#values(from, `${this.#options.settings.at}.download.from`).map((value) => ({
      ...common,
      endpoint: toText(value),
      headers,
    }));
  }

  /** A value or a list of them in the last answer. */
  #values(source: Json, at: string): readonly (string | number | boolean)[] {
    const view = this.#view(this.#last);
    const compiled = compileSource(source, exportOptions(at, this.#options.call));
    const value = compiled.read(view);
    const items = isList(value) ? value : [value ?? null];
    const good = items.filter((item) => isScalar(item) && toText(item) !== '');
    if (good.length === items.length) return good as (string | number | boolean)[]; // all that are left are scalars
    throw this.#fail(
      `The export of “${this.#options.job.name}” is done, and its answer has no address at ${compiled.text}.`,
      'Correct the path; or, if that is how the API says that there are no rows, write a condition for it as “emptyWhen” of “poll”.',
      at,
    );
  }

  #request(request: Job, item?: Json): JobRequest {
    const { run: plain, call, evaluate, contexts } = this.#options;
    const own = { ...plain.own, ...this.#own };
    const parameters =
      item === undefined ? plain.parameters : [...plain.parameters, { name: 'item', value: item }];
    const run = withComputed({ ...plain, parameters, own }, request.computed, call, contexts);
    return firstRequest(request, run, evaluate, contexts);
  }

  /** The run with what its answers gave, for the functions of its rows. */
  get run(): JobInvocation {
    const { run } = this.#options;
    return { ...run, own: { ...run.own, ...this.#own } };
  }

  async #ask(step: ExportStep, page: number, of: Job): Promise<StepAnswer> {
    const { exchanges, buildRequest, send, job, began, signal, reactor, put } = this.#options;
    const written = this.#request(of);
    const request = step === 'create' ? put(written) : written;
    const wire = buildRequest(request, job.name);
    const place = this.#placeOf(step);
    const ask = { place, page, began, request: wire, headers: this.#headers, signal };
    const read = silentReader(of, request.endpoint, this.#options);
    const exchanged = { request, page, now: began.now, contexts: () => this.#contexts, pageOf: read };
    const react = reactor.isIdle ? {} : { react: reactor.react(exchanged) };
    const answer = await exchanges.ask(ask, async () => await send(wire, { signal, ...react }));
    try {
      this.#last = stepAnswer(request, answer, this.#options);
    } catch (error) {
      exchanges.drop(place, page);
      throw error instanceof RecordError ? error.at({ path: of.at }) : error;
    }
    if (answer.kept !== undefined && !answer.isRecorded) exchanges.note(answer.kept, { rows: 0 });
    this.#answers.set(step, this.#last.json);
    return this.#last;
  }

  #view(asked: StepAnswer | undefined): View {
    const json = asked?.json ?? null;
    const response = asked?.answer.response;
    return {
      here: (path) => path.find(json),
      response: (path) => path.find(json),
      header: (name) => (response === undefined ? undefined : headerOf(response.headers, name)),
      answer: (fact) => (fact === 'status' ? response?.status : fact === 'url' ? response?.url : undefined),
      ...(asked === undefined ? {} : { request: asked.request }),
      contexts: () => this.#contexts,
    };
  }

  get #contexts(): Contexts {
    return contextsOf(this.run, this.#options.contexts);
  }

  #placeOf(step: ExportStep): RunPlace {
    const { place } = this.#options;
    return { ...place, step: { ...place.step, export: step } };
  }

  #drop(step: ExportStep, page: number): void {
    this.#options.exchanges.drop(this.#placeOf(step), page);
  }

  /** Creates the error of a failed export, whose requests the next run repeats. */
  #fail(
    message: string,
    hint: string,
    path: string,
    details: Readonly<Record<string, unknown>> = {},
  ): RunError {
    this.#drop('create', 1);
    for (let page = 1; page <= this.#polls; page++) this.#drop('poll', page);
    if (this.#options.settings.address !== undefined) this.#drop('address', 1);
    return new RunError('export.failed', message, { hint, details, where: { path } });
  }

  #failed(evidence: string, { message }: ExportPoll<Job>, view: View): RunError {
    const { job, settings, call, secrets } = this.#options;
    const at = `${settings.at}.poll`;
    const said =
      message === undefined
        ? undefined
        : compileSource(message, exportOptions(`${at}.message`, call)).read(view);
    const words =
      said === undefined || said === null ? '' : `: ${isScalar(said) ? toText(said) : JSON.stringify(said)}`;
    const told = `The API could not make the export of “${job.name}” (${evidence})${words.slice(0, 1000)}`;
    return this.#fail(
      secrets.redactMessage(/[.!?]$/.test(told) ? told : `${told}.`),
      'Change what was asked for, if the API says so; the next run asks for a new export.',
      `${at}.failWhen`,
    );
  }

  #late(evidence: string, { deadlineMs }: ExportPoll<Job>): RunError {
    const { job, settings, secrets } = this.#options;
    // asked for once more by the run that goes on, which may find it ready
    this.#drop('poll', this.#polls);
    return new RunError(
      'export.late',
      `The export of “${job.name}” was not ready within ${deadlineMs / 1000} seconds, after ${this.#polls} polls: ${secrets.redactMessage(evidence)}.`,
      {
        hint: `Run it again: it goes on waiting for the same export. If exports take so long, raise “deadline”; if the state is one of a failure, name it in “failWhen”.`,
        where: { path: `${settings.at}.poll` },
      },
    );
  }
}

/** Describes the values that a condition has read. */
function seenBy(condition: Condition, view: View): string {
  const seen = condition.sources.map((source) => {
    const value = source.read(view);
    return `${source.text} is ${value === undefined ? 'absent' : shown(value)}`;
  });
  return seen.length === 0 ? condition.describe(view) : [...new Set(seen)].join(', ');
}

function shown(value: Json): string {
  const text = typeof value === 'string' ? `“${value}”` : toJsonText(value);
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}

/** Tells whether an address has expired. */
export function isExpired(error: unknown): boolean {
  if (!(error instanceof HttpError)) return false;
  const { status } = error.details;
  return status === 400 || status === 401 || status === 403 || status === 404 || status === 410;
}
