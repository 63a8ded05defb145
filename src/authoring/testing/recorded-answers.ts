import { AsyncLocalStorage } from 'node:async_hooks';
import { RunError } from '../../lib/errors.ts';
import type { Story, ToldPage } from '../../engine/explain/trace.ts';
import type { ApiRequest, ApiResponse, Headers, Send } from '../../engine/shared/message.ts';
import type { Ask, Recording } from '../../engine/recording/exchanges.ts';
import { keyOf, positionOf } from '../../engine/recording/position.ts';
import type { Recorder } from '../../engine/recording/recorder.ts';

/** Answers from a recording, as a fixture is to have them. */
export interface RecordedAnswersOptions {
  readonly story: Story;
  /** The body as the fixture has it. */
  readonly bodyOf: (page: ToldPage) => Uint8Array;
  /** Told of each request that leaves, with its credentials, and of its answer. */
  readonly onExchange: (request: ApiRequest, response: ApiResponse) => void;
}

/**
 * Runs a configuration over what was recorded, from the network up: each request is answered by what came at its place
 * in the run then, whatever has changed in it, such as a credential or a masked value.
 */
export class RecordedAnswers {
  readonly #pages: ReadonlyMap<string, ToldPage>;
  readonly #options: RecordedAnswersOptions;
  readonly #current = new AsyncLocalStorage<ApiResponse>();
  /** A login was asked for, and logins are not recorded. */
  needsLogin = false;

  constructor(options: RecordedAnswersOptions) {
    this.#options = options;
    const pages = options.story.jobs.flatMap(({ runs }) => runs.flatMap((run) => run.pages));
    this.#pages = new Map(pages.map((page) => [keyOf(page.exchange.position), page]));
  }

  /** Stands in the network's place. */
  readonly send: Send = async (request) => {
    const answer = this.#current.getStore();
    if (answer === undefined || request.isLogin === true || request.label === 'login') {
      this.needsLogin = true;
      throw new RunError('recording.missing', 'A login was asked for, and logins are not recorded.');
    }
    const response = { ...answer, url: request.url };
    this.#options.onExchange(request, response);
    return response;
  };

  /** Returns the recording of the run that is replayed. */
  over(recorder: Recorder): Recording {
    return {
      startedAt: recorder.startedAt,
      broken: recorder.broken,
      moment: (place) => recorder.moment(place),
      ask: async (ask, send) => {
        const answer = this.#answerTo(ask);
        return await recorder.ask(
          ask,
          async (spool) => await this.#current.run(answer, async () => await send(spool)),
        );
      },
      note: (kept, facts) => recorder.note(kept, facts),
      limit: (event) => recorder.limit(event),
      drop: (place, page) => recorder.drop(place, page),
      bytes: (at, length) => recorder.bytes(at, length),
      again: (at) => recorder.again(at),
      finish: () => recorder.finish(),
      close: () => recorder.close(),
    };
  }

  #answerTo({ place, page, headers }: Ask): ApiResponse {
    const told = this.#pages.get(keyOf(positionOf(place, page)));
    const { job } = place.step;
    if (told === undefined || told.fate === 'bad')
      throw new RunError('recording.missing', `The recording has no answer for page ${page} of “${job}”.`, {
        where: { job, page },
        hint: [
          'The run was stopped there, or the configuration has changed since: run it again.',
          'Or end each job before with --pages, and leave out --rows where the API counts its rows.',
        ],
      });
    const { status, headers: came } = told.exchange;
    return { status, headers: keptHeaders(came, headers), url: '', body: this.#options.bodyOf(told) };
  }
}

/** Keeps headers about the body or pages; others may identify a person or a day. */
function keptHeaders(headers: Headers, wanted: readonly string[]): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => wanted.includes(name) || KEPT.test(name)),
  );
}

const KEPT = /^(?:content-type|content-range|link)$|total|page|next|cursor|offset|has-more/;
