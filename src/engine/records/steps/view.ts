import type { Contexts } from '../../shared/evaluate.ts';
import type { JobRequest } from '../../shared/message.ts';
import type { Json, Path } from '../../../lib/json/index.ts';
import { ANSWER_KINDS, type AnswerFact, type Kind, type View } from '../../language/index.ts';
import type { RowWatch } from './watch.ts';

/** Kinds of sources in the settings of rows: the row, its answer, and the contexts of the run. */
export const ROW_KINDS: readonly Kind[] = ['row', ...ANSWER_KINDS];

/** Facts about a page, besides its rows: the same whenever the page is read again. */
export interface RecordPageFacts {
  /** Milliseconds since 1970 at which the answer came. */
  readonly now: number;
  readonly response: () => Json;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Readonly<Record<AnswerFact, Json>>;
  readonly request: JobRequest;
  readonly contexts: Contexts;
}

/** The view of one row after the other. */
export class RowView implements View {
  readonly #facts: RecordPageFacts;
  readonly #watch: RowWatch | undefined;
  #row: Json = null;
  /** JSON path of the setting that looks. */
  at = '';

  constructor(facts: RecordPageFacts, watch: RowWatch | undefined) {
    this.#facts = facts;
    this.#watch = watch;
  }

  see(row: Json): void {
    this.#row = row;
  }

  here(path: Path): Json | undefined {
    const value = path.find(this.#row);
    this.#watch?.looked(path, value !== undefined, this.at);
    return value;
  }

  row(path: Path): Json | undefined {
    return this.here(path);
  }

  response(path: Path): Json | undefined {
    return path.find(this.#facts.response());
  }

  header(name: string): string | undefined {
    return this.#facts.headers[name];
  }

  answer(fact: AnswerFact): Json {
    return this.#facts.answer[fact];
  }

  get request(): JobRequest {
    return this.#facts.request;
  }

  contexts(): Contexts {
    return this.#facts.contexts;
  }
}
