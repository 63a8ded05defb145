import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import { HttpError } from '../../lib/errors.ts';
import { textOf as decodedText } from '../formats/index.ts';
import type { AgainReason, ApiResponse, JobRequest, Pause, React, Reacted } from '../shared/message.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import type { Job } from '../jobs/index.ts';
import { strtotime } from '../jobs/functions/index.ts';
import { parseExact, type Json } from '../../lib/json/index.ts';
import {
  compileReactions,
  needsOfReactions,
  type Reaction,
  type View,
  type Wait,
} from '../language/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Page } from '../records/page.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { oneLine } from '../../lib/shown-text.ts';
import { textOf } from '../language/compare.ts';

export interface ReactorOptions {
  /** `api.reactions`, as written: they come behind those of the job. */
  readonly reactions: Json | undefined;
  readonly callAt: (now: () => number) => CallFunction;
  /** False where nothing is to be tried again, as in a look at a configuration. */
  readonly isPatient?: boolean | undefined;
  readonly log: Log;
  readonly secrets: Secrets;
}

/** Facts about an answer, besides the answer itself. */
export interface Exchanged {
  readonly request: JobRequest;
  /** From 1. */
  readonly page: number;
  /** Milliseconds since 1970: when the run of the job began. */
  readonly now: number;
  readonly contexts: () => Contexts;
  /** The page in the answer, without a word about what it is not; undefined for another format than JSON. */
  readonly pageOf: (response: ApiResponse) => Page | undefined;
}

/** An answer that is taken otherwise than as usual. */
export interface Taken {
  readonly do: 'empty' | 'skip' | 'rows';
  /** JSON path of the reaction. */
  readonly at: string;
  /** Observation in words, redacted. */
  readonly why: string;
}

/** The reactions of a job (docs/language/reactions.md), for all of its runs. */
export class ResponseRules {
  readonly headers: readonly string[];
  readonly #reactions: readonly Reaction[];
  readonly #again: ReadonlyMap<Reaction, AgainReason>;
  readonly #options: ReactorOptions;
  readonly #job: Job;
  readonly #toldOf = new Set<Reaction>();
  readonly #counts = new Map<string, { readonly do: Taken['do']; count: number }>();
  #now = 0;

  constructor(job: Job, options: ReactorOptions) {
    const call = options.callAt(() => this.#now);
    this.#job = job;
    this.#options = options;
    this.#reactions = [
      ...compileReactions(job.reactions, { at: `${job.at}.reactions`, call }),
      ...compileReactions(options.reactions, { at: 'parameters.api.reactions', call }),
    ];
    this.headers = needsOfReactions(this.#reactions).headers;
    this.#again = new Map(
      this.#reactions.map((reaction) => [
        reaction,
        { isLogin: reaction.do === 'login', times: options.isPatient === false ? 0 : reaction.times },
      ]),
    );
  }

  get isIdle(): boolean {
    return this.#reactions.length === 0;
  }

  /** Returns the decision on an answer that has just come. */
  react(exchanged: Exchanged): React {
    return (response, isSpent, nowMs) => {
      const view = this.#view(response, exchanged);
      let spent: Reaction | undefined;
      for (const reaction of this.#reactions) {
        const reason = this.#again.get(reaction);
        if (reason === undefined || !reaction.when.holds(view)) continue;
        if (reaction.do !== 'retry' && reaction.do !== 'login') return this.#done(reaction, response, view);
        if (!isSpent(reason)) {
          const pause = this.#pause(reaction, view, nowMs);
          return { do: 'again', reason, why: this.#why(reaction, view), pause };
        }
        spent ??= reaction;
      }
      return spent === undefined ? undefined : { do: 'fail', error: this.#spent(spent, response, view) };
    };
  }

  /**
   * Returns the treatment of a kept answer. It follows from the answer alone: retries are over, because the request was
   * sent as often as it was to be.
   *
   * @throws {HttpError} `http.declared` for an answer that is an error
   */
  taken(response: ApiResponse, exchanged: Exchanged): Taken | undefined {
    const view = this.#view(response, exchanged);
    const reaction = this.#reactions.find(
      ({ do: deed, when }) => deed !== 'retry' && deed !== 'login' && when.holds(view),
    );
    if (reaction === undefined || reaction.do === 'retry' || reaction.do === 'login') return undefined;
    if (reaction.do === 'fail') throw this.#failure(reaction, response, view);
    return { do: reaction.do, at: reaction.at, why: this.#why(reaction, view) };
  }

  /** Reports a reaction to an answer, in the order of the pages: the first is logged. */
  tell({ do: deed, at, why }: Taken, url: string): void {
    const known = this.#counts.get(at) ?? { do: deed, count: 0 };
    this.#counts.set(at, known);
    known.count++;
    const say = known.count === 1 ? 'info' : 'debug';
    this.#options.log[say](`An answer is ${DONE[deed]}: ${why}`, {
      job: this.#job.name,
      path: at,
      url: this.#options.secrets.redactUrl(url),
    });
  }

  /** Says how many answers were taken so, where there were several; all is then forgotten. */
  tellCounts(): void {
    for (const [at, { do: deed, count }] of this.#counts) {
      if (count === 1) continue;
      this.#options.log.info(`${count} answers of “${this.#job.name}” were ${DONE[deed]}`, {
        job: this.#job.name,
        path: at,
      });
    }
    this.#counts.clear();
  }

  #done(reaction: Reaction, response: ApiResponse, view: View): Reacted {
    return reaction.do === 'fail'
      ? { do: 'fail', error: this.#failure(reaction, response, view) }
      : { do: 'take' };
  }

  #failure(reaction: Reaction, response: ApiResponse, view: View): HttpError {
    return this.#error(
      `The API answered ${response.status} with an error: ${this.#why(reaction, view)}.`,
      reaction,
      response,
      `It is one by “${reaction.at}”. Where such an answer may be left out, write "do": "empty" or "skip" there.`,
    );
  }

  #spent(reaction: Reaction, response: ApiResponse, view: View): HttpError {
    const times = this.#options.isPatient === false ? '' : ` after ${reaction.times} more attempts`;
    return this.#error(
      `The API still answers ${response.status}${times}: ${this.#why(reaction, view)}.`,
      reaction,
      response,
      `It was sent again by “${reaction.at}”. Raise its “times” or its “wait”, or put a reaction behind it that says what is done then.`,
    );
  }

  #error(message: string, { at }: Reaction, { status, url }: ApiResponse, hint: string): HttpError {
    return new HttpError('http.declared', message, {
      hint,
      where: { job: this.#job.name, path: at, url: this.#options.secrets.redactUrl(url) },
      details: { status },
    });
  }

  /** Returns the message of the API, else the observation. */
  #why({ when, message }: Reaction, view: View): string {
    const said = message?.read(view);
    const text = said === undefined || said === null || said === '' ? when.describe(view) : textOf(said);
    const shown = oneLine(this.#options.secrets.redactMessage(text)).trim();
    return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN - 1)}…` : shown;
  }

  #pause(reaction: Reaction, view: View, nowMs: number): Pause {
    const { wait } = reaction;
    if (wait === undefined) return { by: 'usual' };
    if ('ms' in wait) return { by: 'configuration', ms: wait.ms };
    const found = wait.from.read(view);
    const ms = found === undefined || found === null ? undefined : waitMs(textOf(found), wait, nowMs);
    if (ms !== undefined && Math.max(ms, wait.leastMs) > 0)
      return { by: 'answer', ms: Math.max(ms, wait.leastMs) };
    if (!this.#toldOf.has(reaction)) {
      this.#toldOf.add(reaction);
      const why = found === undefined || found === null ? 'it has none' : 'that is no time ahead';
      this.#options.log.warn(
        `The answer should say in ${wait.from.text} how long to wait, and ${why}: the usual pauses are made`,
        { job: this.#job.name, path: `${reaction.at}.wait` },
      );
    }
    return wait.leastMs > 0 ? { by: 'configuration', ms: wait.leastMs } : { by: 'usual' };
  }

  #view(response: ApiResponse, { request, page, now, contexts, pageOf }: Exchanged): View {
    this.#now = now;
    let content: ((path: Parameters<View['here']>[0]) => Json | undefined) | undefined;
    const here: View['here'] = (path) => (content ??= contentOf(response, pageOf))(path);
    let known: Contexts | undefined;
    return {
      here,
      response: here,
      header: (name) => response.headers[name],
      request,
      answer(fact) {
        if (fact === 'rows') return rowsOf(response, pageOf);
        return {
          status: response.status,
          page,
          bytes: response.large?.bytes ?? response.body.length,
          url: response.url,
          read: undefined,
        }[fact];
      },
      contexts: () => (known ??= contexts()),
    };
  }
}

const DONE: Readonly<Record<Taken['do'], string>> = {
  empty: 'taken as empty',
  skip: 'skipped',
  rows: 'taken as rows, whatever its status',
};

const MOST_SHOWN = 300;

/**
 * Returns the access to an answer for conditions. Most values are outside the rows, which then need not be decoded. An
 * answer of another format has only rows; one that is JSON all the same is probably an error, and is parsed. Anything
 * else is a text.
 */
function contentOf(response: ApiResponse, pageOf: Exchanged['pageOf']): View['here'] {
  if (response.status < 400) {
    try {
      const page = pageOf(response);
      if (page !== undefined && page.envelope !== null) {
        const { rowsAt, envelope } = page;
        return (path) => path.find(rowsAt !== undefined && path.needs(rowsAt) ? page.response() : envelope);
      }
    } catch {
      // an answer without the rows that are looked for may be just what is asked about
    }
  }
  const text = textIn(response);
  let value: Json = text;
  try {
    value = parseExact(text);
  } catch {
    // no JSON
  }
  return (path) => path.find(value);
}

/** Bytes of a body that is no JSON: what it says of itself stands at its beginning. */
const MOST_TEXT = 1 << 16;

function textIn({ body, large, headers }: ApiResponse): string {
  const bytes = large === undefined ? body : large.read(0, MOST_TEXT);
  return decodedText(bytes, headers);
}

function rowsOf(response: ApiResponse, pageOf: Exchanged['pageOf']): number | undefined {
  try {
    return pageOf(response)?.rows;
  } catch {
    return 0;
  }
}

/** In seconds it is the year 5138: a clock in milliseconds. */
const MILLISECONDS_FROM = 1e11;

/** Returns the time to wait; undefined for a text that is no time. */
function waitMs(text: string, { as }: Extract<Wait, { from: unknown }>, nowMs: number): number | undefined {
  if (as === undefined) return retryAfterMs(text, nowMs);
  if (as === 'date') {
    const seconds = text.trim() === '' ? false : strtotime(text, Math.floor(nowMs / 1000));
    return seconds === false ? undefined : seconds * 1000 - nowMs;
  }
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return undefined;
  if (as === 'epoch') return (number > MILLISECONDS_FROM ? number : number * 1000) - nowMs;
  return as === 'seconds' ? number * 1000 : number;
}
