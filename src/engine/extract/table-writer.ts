import path from 'node:path';
import type { AnyObject, Json } from '../../lib/json/index.ts';
import type { ApiResponse } from '../shared/message.ts';
import type { Exchanges } from '../recording/exchanges.ts';
import { charsetOf, otherThanUtf8 } from '../formats/index.ts';
import type { Page, RowsPiece, RowStream } from '../records/page.ts';
import type { RowLook } from '../records/look.ts';
import type { PageRows, RecordParser, TypedColumn } from '../records/parser.ts';
import type { LineThreads } from '../records/threads/line-threads.ts';
import { Sink, type FinishedTable } from '../sink/sink.ts';
import { filteredRows, rawChunks, type PageContent, type ResponseFilter } from './content.ts';
import { PageIndex, type IndexedPage } from './page-index.ts';
import { turn } from '../../lib/turn.ts';

/** Target of a page's rows. */
export interface PageTarget {
  readonly dataType: string;
  readonly extra: AnyObject;
  readonly source: RowSource;
  /** The page, for people. */
  readonly page?: string;
}

/** How the rows of a job come out of its answers, each time the same. */
export interface RowSource {
  readonly filter: ResponseFilter | undefined;
  readonly look: RowLook;
  /**
   * Repeats the changes to the rows of a page before they were written, by the kept facts; undefined if there were
   * none.
   */
  readonly changeAgain:
    | ((kept: AnyObject, response: () => Json) => (rows: readonly Json[]) => readonly Json[])
    | undefined;
  /** Reads an answer that was read before. */
  readonly readAgain: (response: Pick<ApiResponse, 'body' | 'large' | 'headers' | 'status' | 'url'>) => Page;
  /** The rows of an answer that was a stream of them; undefined where it is a page. */
  readonly rowsAgain: (response: ApiResponse) => StreamAgain | undefined;
}

/** A stream of rows, and what is beside them. */
export interface StreamAgain extends RowStream {
  envelope(): Json;
}

export interface BucketOptions {
  readonly folder: string;
  readonly parser: RecordParser;
  /** True for data types whose rows are written at once, so that their pages are not read again. */
  readonly writesAtOnce: (dataType: string) => boolean;
  /** Recorded answers. */
  readonly exchanges: Pick<Exchanges, 'bytes' | 'again'>;
  readonly threads?: LineThreads | undefined;
}

/** The tables of one output bucket: a parser and the sink it writes to. Iterations with one bucket share it. */
export class OutputBucket {
  readonly #options: BucketOptions;
  readonly #sink: Sink;
  /** The pages that may be read again. */
  readonly #index: PageIndex;
  readonly #sources: RowSource[] = [];
  /** The last page, if other threads make its lines. */
  #underWay: Promise<void> | undefined;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#sink = new Sink(options.folder);
    this.#index = new PageIndex(path.join(options.folder, 'pages.index'));
  }

  get rows(): number {
    return this.#sink.rows;
  }

  /** Returns the types of the columns by table, after the end. */
  get types(): ReadonlyMap<string, readonly TypedColumn[]> {
    return this.#options.parser.types?.() ?? new Map();
  }

  get struct(): Json | undefined {
    return this.#options.parser.struct;
  }

  /**
   * Writes a page. When it fails, the bucket is of no use any more.
   *
   * @param mayWait other threads may make its lines, and {@link settle} waits for them
   */
  async take(content: PageContent, target: PageTarget, mayWait: boolean): Promise<void> {
    if (!this.isSettled) await this.settle();
    if (content.page.stream !== undefined) return await this.#takeStream(content, target);
    const { parser, threads } = this.#options;
    const { look } = target.source;
    const page = {
      ...target,
      look,
      count: content.writtenCount,
      chunks: () => content.written(),
      raw: content.raw,
    };
    const ahead =
      mayWait && threads !== undefined ? parser.takeAhead?.(page, this.#sink, threads) : undefined;
    if (ahead === undefined) {
      parser.take(page, this.#sink);
      await this.#written(content, target);
      return;
    }
    this.#underWay = ahead.then(async () => await this.#written(content, target));
    this.#underWay.catch(() => undefined); // thrown where it is waited for
  }

  async #written(content: PageContent, target: PageTarget): Promise<void> {
    content.endRows();
    if (!this.#options.writesAtOnce(target.dataType)) this.#remember(content, target);
    // most pages wait for nothing, and a turn of promises for each of these takes as long as to write a row
    if (this.#sink.isBehind) await this.#sink.settle();
    if (this.#index.isBehind) await this.#index.settle();
  }

  /** True when the last page is written. */
  get isSettled(): boolean {
    return this.#underWay === undefined;
  }

  /** Waits until the last page is written; what no other thread has begun of it is done meanwhile. */
  async settle(): Promise<void> {
    while (this.#underWay !== undefined && this.#options.threads?.help() === true) await turn();
    await this.#underWay;
    this.#underWay = undefined;
  }

  /** Writes the rows of a stream chunk by chunk, each as a page of its own, so that memory does not grow with them. */
  async #takeStream(content: PageContent, target: PageTarget): Promise<void> {
    const { parser, writesAtOnce } = this.#options;
    const { look } = target.source;
    let written = 0;
    for (const rows of content.written()) {
      parser.take({ ...target, look, count: rows.length, chunks: () => [rows] }, this.#sink);
      written += rows.length;
      await this.#sink.settle();
      await turn();
    }
    if (written === 0) parser.take({ ...target, look, count: 0, chunks: () => [] }, this.#sink);
    if (!writesAtOnce(target.dataType)) this.#remember(content, target);
    await this.#index.settle();
  }

  /** Writes what could not be written before, and gives the tables. */
  async finish(): Promise<FinishedTable[]> {
    await this.settle();
    await this.#sink.settle(true);
    await this.#index.settle(true);
    this.#options.parser.finish(() => this.#pages(), this.#sink);
    await this.#index.close();
    return this.#sink.close();
  }

  async abandon(): Promise<void> {
    await this.#underWay?.catch(() => undefined);
    await this.#index.close();
    await this.#sink.abandon();
  }

  #remember({ answer, page, steps }: PageContent, { dataType, extra, source }: PageTarget): void {
    const { kept, response } = answer;
    if (kept === undefined) throw new Error('a page that may be read again was not kept');
    let number = this.#sources.indexOf(source);
    if (number < 0) number = this.#sources.push(source) - 1;
    const { status, headers } = response;
    const contentType = headers['content-type'];
    const entry = {
      dataType,
      extra,
      source: number,
      count: page.rows,
      status,
      body: kept.body,
      ...(contentType !== undefined && otherThanUtf8(charsetOf(headers).label) !== undefined
        ? { contentType }
        : {}),
      ...(steps === undefined ? {} : { facts: steps.facts }),
    };
    const isElsewhere = page.stream !== undefined || response.large !== undefined;
    this.#index.add(isElsewhere ? { ...entry, answerAt: kept.at } : entry);
  }

  *#pages(): Iterable<PageRows> {
    for (const entry of this.#index.entries()) {
      const { dataType, extra, source, count, answerAt, facts } = entry;
      const from = this.#sources[source];
      if (from === undefined) throw new Error(`the page index names the source ${source}`);
      const target = { dataType, extra, look: from.look };
      const answer = answerAt === undefined ? undefined : this.#options.exchanges.again(answerAt);
      const stream = answer && from.rowsAgain(answer);
      if (stream !== undefined) {
        yield* this.#streamAgain(stream, from, entry);
        continue;
      }
      if (count === 0) {
        // its body may be anything: that of an error which is taken as empty
        yield { ...target, count, chunks: () => [] };
        continue;
      }
      const page = from.readAgain(answer ?? this.#answerOf(entry));
      const { pieces } = page;
      if (facts !== undefined && from.changeAgain !== undefined) {
        yield {
          ...target,
          ...changedRows(
            pieces,
            from.filter,
            from.changeAgain(facts, () => page.response()),
          ),
        };
        continue;
      }
      const chunks = from.filter === undefined && page.isMade !== true ? rawChunks(pieces) : undefined;
      yield {
        ...target,
        count,
        ...(chunks === undefined ? {} : { raw: { chunks, wanted: () => [], see: () => undefined } }),
        *chunks() {
          for (const piece of pieces) yield filteredRows(piece, from.filter);
        },
      };
    }
  }

  /** Returns an answer whose body is in one place of the recording. */
  #answerOf({
    status,
    body: { at, bytes },
    contentType,
  }: IndexedPage): Parameters<RowSource['readAgain']>[0] {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    return { status, url: '', headers, body: this.#options.exchanges.bytes(at, bytes) };
  }

  /** Yields the same pages that {@link #takeStream} created. */
  *#streamAgain(
    stream: StreamAgain,
    { filter, look, changeAgain }: RowSource,
    { dataType, extra, facts }: IndexedPage,
  ): Iterable<PageRows> {
    let written = 0;
    const target = { dataType, extra, look };
    const change = facts === undefined ? undefined : changeAgain?.(facts, () => stream.envelope());
    for (const decoded of stream.chunks()) {
      const filtered = filter === undefined ? decoded : decoded.map(filter);
      const rows = change === undefined ? filtered : change(filtered);
      written += rows.length;
      yield { ...target, count: rows.length, chunks: () => [rows] };
    }
    if (written === 0) yield { ...target, count: 0, chunks: () => [] };
  }
}

/** Repeats the changes to the written rows of a page. */
function changedRows(
  pieces: readonly RowsPiece[],
  filter: ResponseFilter | undefined,
  change: (rows: readonly Json[]) => readonly Json[],
): Pick<PageRows, 'count' | 'chunks'> {
  const [only, second] = pieces;
  if (only === undefined || second !== undefined)
    return {
      count: only === undefined ? 0 : Infinity,
      *chunks() {
        for (const piece of pieces) yield change(filteredRows(piece, filter));
      },
    };
  const rows = change(filteredRows(only, filter));
  return { count: rows.length, chunks: () => [rows] };
}
