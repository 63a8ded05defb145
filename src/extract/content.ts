import { hash } from 'node:crypto';
import { bodyBytes, type ApiRequest, type ApiResponse } from '../http/message.ts';
import type { Answer } from '../recording/exchanges.ts';
import { isList, isObject, objectOf, entriesOf, toJsonText, type Json, type Path } from '../json/index.ts';
import { idRange, type Needs, type Observation } from '../pagination/index.ts';
import type { Taken } from './reactor.ts';
import { decodeRows, type Page, type RowsPiece } from '../records/page.ts';

/** Changes a row before anybody uses it (`responseFilter`). */
export type RowFilter = (row: Json) => Json;

/** One page of a job: what was asked, what came, and its rows, decoded when they are needed. */
export class PageContent {
  readonly request: ApiRequest;
  readonly answer: Answer;
  readonly page: Page;
  /** A reaction of the configuration took the answer otherwise than as usual. */
  readonly taken: Taken | undefined;
  readonly #filter: RowFilter | undefined;
  #rows: readonly Json[] | undefined;
  #onRows: ((rows: readonly Json[]) => void) | undefined;
  /** Pieces whose rows were told of. */
  #told = 0;

  constructor(request: ApiRequest, answer: Answer, page: Page, filter: RowFilter | undefined, taken?: Taken) {
    this.request = request;
    this.answer = answer;
    this.page = page;
    this.#filter = filter;
    this.taken = taken;
  }

  get response(): ApiResponse {
    return this.answer.response;
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

  /** Lets somebody see the rows, each once and in order, when they are decoded for another purpose. */
  onRows(see: (rows: readonly Json[]) => void): void {
    this.#onRows = see;
  }

  #tell(piece: number, rows: readonly Json[]): void {
    if (piece !== this.#told || this.#onRows === undefined) return;
    this.#told++;
    this.#onRows(rows);
  }

  get requestDigest(): string {
    const { method, url, body } = this.request;
    return hash('sha1', body === undefined ? `${method} ${url}` : `${method} ${url}\n${textOf(body)}`);
  }

  /** What a paginator sees of the page. */
  observe(needs: Needs, page: number): Observation {
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
      values: (needs.paths ?? []).map((path) => this.#value(path)),
      headers,
      rows: located.rows,
      bytes: bodyBytes(response),
      now: this.answer.now,
      ...(ids === undefined ? {} : { ids }),
      ...(needs.volume === true ? { volume: this.#volume() } : {}),
    };
  }

  /** Most values are outside the rows, which then need not be decoded. */
  #value(path: Path): Json | undefined {
    const { rowsAt, envelope } = this.page;
    return path.find(rowsAt !== undefined && path.needs(rowsAt) ? this.#whole() : envelope);
  }

  /** Of a body in another format than JSON, what came. */
  #volume(): number {
    return this.page.stream === undefined ? toJsonText(this.#whole()).length : bodyBytes(this.response);
  }

  /** The whole response, its rows as the filter left them; of a body in another format, what is beside them. */
  #whole(): Json {
    const { rowsAt, stream } = this.page;
    if (stream !== undefined || this.#filter === undefined || this.page.rows === 0 || rowsAt === undefined)
      return this.page.response();
    const rows = [...this.chunks()].flat();
    const single = this.page.pieces[0]?.single === true;
    return replaceAt(this.page.response(), rowsAt, single ? (rows[0] ?? null) : rows);
  }
}

/** Decodes a piece of rows and applies the filter. */
export function filteredRows(piece: RowsPiece, filter: RowFilter | undefined): readonly Json[] {
  const rows = decodeRows(piece);
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

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
}
