import { hash } from 'node:crypto';
import {
  bodyBytes,
  type ApiRequest,
  type ApiResponse,
  type Headers,
  type JobRequest,
} from '../shared/message.ts';
import type { RecordedAnswer } from '../recording/exchanges.ts';
import {
  entriesOf,
  isList,
  isObject,
  objectOf,
  toJsonText,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import type { View } from '../language/index.ts';
import { idRange, type Needs, type Observation } from '../pagination/index.ts';
import type { Taken } from './reactor.ts';
import { isOneOf, withoutRepeats, type PageSteps } from './page-steps.ts';
import type { Page, RowsPiece } from '../records/page.ts';
import type { RawPage, RawRows } from '../records/raw-rows.ts';
import type { SeenRows } from '../shared/seen-rows.ts';

/** Changes a row before anybody uses it (`responseFilter`). */
export type ResponseFilter = (row: Json) => Json;

/** Context in which a page is used. */
export interface PageUse {
  /** The request as the job and the pagination made it. */
  readonly asked: JobRequest;
  readonly filter: ResponseFilter | undefined;
  readonly steps?: PageSteps | undefined;
  readonly taken?: Taken | undefined;
}

/** Sees the rows of a page, each once and in order. */
export interface RowsWatch {
  take(rows: readonly Json[]): void;
  /** Sees rows that were not decoded; undefined for one that needs all of each row. */
  readonly raw?: {
    /** Names of the properties that it looks at. */
    wanted(): readonly string[];
    take(rows: SeenRows): void;
  };
  /** Called when the page is written: what is to be found out of its rows need not wait for the next page. */
  readonly end?: () => void;
}

interface Edges {
  readonly first: Json | undefined;
  readonly last: Json | undefined;
}

/** One page of a job: what was asked, what came, and its rows, decoded when they are needed. */
export class PageContent {
  /** The request as the job and the pagination made it, and as it went over the wire. */
  readonly asked: JobRequest;
  readonly request: ApiRequest;
  readonly answer: RecordedAnswer;
  readonly page: Page;
  /** A reaction of the configuration took the answer otherwise than as usual. */
  readonly taken: Taken | undefined;
  readonly #filter: ResponseFilter | undefined;
  #steps: PageSteps | undefined;
  #leftOut: ReadonlySet<string> | undefined;
  /** The rows that are written, of a page of one chunk. */
  #written: readonly Json[] | undefined;
  /** Chunks whose rows were changed. */
  #changed = 0;
  #rows: readonly Json[] | undefined;
  #edges: Edges | undefined;
  readonly #watches: RowsWatch[] = [];
  /** Pieces whose rows were told of. */
  #told = 0;

  constructor(
    request: ApiRequest,
    answer: RecordedAnswer,
    page: Page,
    { asked, filter, steps, taken }: PageUse,
  ) {
    this.asked = asked;
    this.#steps = steps;
    this.request = request;
    this.answer = answer;
    this.page = page;
    this.#filter = filter;
    this.taken = taken;
  }

  get response(): ApiResponse {
    return this.answer.response;
  }

  /** None where rows are written as they came. */
  get steps(): PageSteps | undefined {
    return this.#steps;
  }

  /** Leaves out rows that came before: they are not written, and start no children. Called before they are read. */
  leaveOut(digests: ReadonlySet<string>): void {
    this.#leftOut = digests;
    this.#steps = withoutRepeats(this.#steps, digests);
  }

  isLeftOut(row: Json): boolean {
    return this.#leftOut !== undefined && isOneOf(row, this.#leftOut);
  }

  /** Rows after the filter, a chunk at a time. A page of one chunk is decoded once. */
  *chunks(): Iterable<readonly Json[]> {
    const { pieces, stream } = this.page;
    if (stream !== undefined) {
      let chunk = 0;
      for (const decoded of stream.chunks()) {
        const rows = this.#filter === undefined ? decoded : decoded.map(this.#filter);
        this.#tell(chunk++, rows);
        yield rows;
      }
      return;
    }
    const [only] = pieces;
    if (only !== undefined && pieces.length === 1) {
      this.#rows = this.#rows ?? filteredRows(only, this.#filter);
      this.#tell(0, this.#rows);
      yield this.#rows;
      return;
    }
    for (const [i, piece] of pieces.entries()) {
      const rows = filteredRows(piece, this.#filter);
      this.#tell(i, rows);
      yield rows;
    }
  }

  /** The rows as they are written, a chunk at a time. */
  written(): Iterable<readonly Json[]> {
    if (this.steps === undefined) return this.chunks();
    return this.#written === undefined ? this.#change(this.steps) : [this.#written];
  }

  *#change({ change }: PageSteps): Iterable<readonly Json[]> {
    let chunk = 0;
    for (const rows of this.chunks()) {
      const isSeen = chunk++ < this.#changed;
      this.#changed = Math.max(this.#changed, chunk);
      const made = change(rows, isSeen);
      if (this.page.pieces.length === 1) this.#written = made;
      yield made;
    }
  }

  /** How many they are; infinitely many where only reading them would tell. */
  get writtenCount(): number {
    if (this.steps === undefined) return this.page.rows;
    if (this.page.pieces.length > 1) return Infinity;
    const [rows = []] = this.written();
    return rows.length;
  }

  /** The rows as bytes, where nothing changes them on their way, and nobody needs them decoded. */
  get raw(): RawPage | undefined {
    const { pieces, stream, isMade } = this.page;
    if (stream !== undefined || isMade === true || this.#filter !== undefined || this.#steps !== undefined)
      return undefined;
    const watches = this.#watches.flatMap(({ raw }) => raw ?? []);
    const chunks = rawChunks(pieces);
    if (chunks === undefined || watches.length < this.#watches.length) return undefined;
    return {
      chunks,
      wanted: () => watches.flatMap((watch) => watch.wanted()),
      see: (chunk, rows) => {
        if (chunk !== this.#told) return;
        this.#told++;
        for (const watch of watches) watch.take(rows);
      },
    };
  }

  /** Lets somebody see the rows, each once and in order, when they are read for another purpose. */
  onRows(watch: RowsWatch): void {
    this.#watches.push(watch);
  }

  /** Tells those who saw the rows that there are no more. */
  endRows(): void {
    for (const { end } of this.#watches) end?.();
  }

  #tell(piece: number, rows: readonly Json[]): void {
    if (piece !== this.#told || this.#watches.length === 0) return;
    this.#told++;
    for (const watch of this.#watches) watch.take(rows);
  }

  get requestDigest(): string {
    const { method, url, headers, body } = this.request;
    const parts = [
      method,
      url,
      textOf(headers),
      ...(body === undefined ? [] : [typeof body === 'string' ? body : Buffer.from(body).toString('latin1')]),
    ];
    return hash('sha1', parts.join('\n'));
  }

  /** Returns the part of the page that a paginator needs; its sources and conditions read the page by the view. */
  observe(needs: Needs, page: number, view: View): Observation {
    const { response, page: located } = this;
    const headers: Record<string, string> = {};
    for (const name of needs.headers ?? []) {
      const value = response.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    const ids = needs.ids === undefined ? undefined : idRange(this.chunks(), needs.ids);
    return {
      page,
      status: response.status,
      url: response.url,
      values: (needs.paths ?? []).map((path) => this.value(path)),
      read: (needs.sources ?? []).map((source) => source.read(view)),
      met: (needs.conditions ?? []).map((condition) =>
        condition.holds(view) ? condition.describe(view) : undefined,
      ),
      headers,
      rows: located.rows,
      bytes: bodyBytes(response),
      now: this.answer.now,
      ...(ids === undefined ? {} : { ids }),
      ...(needs.volume === true ? { volume: this.#volume() } : {}),
    };
  }

  /** A value of the response. Most are outside the rows, which then need not be decoded. */
  value(path: Path): Json | undefined {
    const { rowsAt, envelope } = this.page;
    return path.find(rowsAt !== undefined && path.needs(rowsAt) ? this.#whole() : envelope);
  }

  /** Returns the size of the answer: for another format than JSON, that of the body. */
  #volume(): number {
    return this.page.stream === undefined ? toJsonText(this.#whole()).length : bodyBytes(this.response);
  }

  /** Returns the first or the last row. */
  edge(which: 'first' | 'last'): Json | undefined {
    return (this.#edges ??= this.#readEdges())[which];
  }

  /**
   * Reads the first and the last row. Of a page in pieces only the two at the ends are decoded; a file is read through.
   */
  #readEdges(): Edges {
    const { pieces, stream } = this.page;
    if (stream === undefined && pieces.length > 1) {
      const [first, last] = [pieces[0], pieces.at(-1)].map((piece) =>
        piece === undefined ? [] : filteredRows(piece, this.#filter),
      );
      return { first: first?.[0], last: last?.at(-1) };
    }
    let edges: Edges = { first: undefined, last: undefined };
    for (const rows of this.chunks()) {
      if (rows.length > 0) edges = { first: edges.first ?? rows[0], last: rows.at(-1) };
    }
    return edges;
  }

  /**
   * Returns the whole response, with the filtered rows in their place; for a body in another format, the parts beside
   * the rows.
   */
  #whole(): Json {
    const { rowsAt, isMade, stream } = this.page;
    const isElsewhere = stream !== undefined || isMade === true;
    if (isElsewhere || this.#filter === undefined || this.page.rows === 0 || rowsAt === undefined)
      return this.page.response();
    const rows = [...this.chunks()].flat();
    const single = this.page.pieces[0]?.single === true;
    return replaceAt(this.page.response(), rowsAt, single ? (rows[0] ?? null) : rows);
  }
}

/** Texts of headers: the requests of a job have the same ones. */
const headerTexts = new WeakMap<Headers, string>();

function textOf(headers: Headers): string {
  let text = headerTexts.get(headers);
  if (text === undefined) headerTexts.set(headers, (text = JSON.stringify(headers)));
  return text;
}

/** Returns the pieces of a page as bytes; undefined where one of them is no part of the body. */
export function rawChunks(pieces: readonly RowsPiece[]): readonly RawRows[] | undefined {
  const chunks = pieces.flatMap((piece) =>
    piece.raw === undefined ? [] : [{ ...piece.raw, rows: piece.rows, decode: () => piece.decode() }],
  );
  return chunks.length === 0 || chunks.length < pieces.length ? undefined : chunks;
}

/** Decodes a piece of rows and applies the filter. */
export function filteredRows(piece: RowsPiece, filter: ResponseFilter | undefined): readonly Json[] {
  const rows = piece.decode();
  return filter === undefined ? rows : rows.map(filter);
}

function replaceAt(value: Json, keys: readonly string[], replacement: Json): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return replacement;
  if (isList(value))
    return value.map((item, i) => (String(i) === key ? replaceAt(item, rest, replacement) : item));
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value).map(([name, item]) => [name, name === key ? replaceAt(item, rest, replacement) : item]),
  );
}
