import {
  encodeExact,
  isList,
  isObject,
  numberOf,
  isNumber,
  parseExact,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import type { Log } from '../log.ts';
import type { FinishedTable } from '../sink/table-files.ts';
import { Sink } from '../sink/sink.ts';
import type { PageRows, RecordParser } from '../records/parser.ts';
import type { RowsPiece } from '../records/page.ts';
import { filteredRows, type PageContent, type RowFilter } from './content.ts';

/** What a page's rows belong to. */
export interface PageTarget {
  readonly dataType: string;
  readonly extra: AnyObject;
  /** The filter that the content has applied, to be applied again when the page is read again. */
  readonly filter: RowFilter | undefined;
}

export interface BucketOptions {
  readonly folder: string;
  readonly parser: RecordParser;
  /** True for data types whose rows are written at once, so that their pages need not be kept. */
  readonly writesAtOnce: (dataType: string) => boolean;
  readonly log: Log;
}

/** The tables of one output bucket: a parser and the sink it writes to. Iterations with one bucket share it. */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #sink: Sink;
  readonly #filters: (RowFilter | undefined)[] = [];

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#sink = new Sink(options.folder);
  }

  get rows(): number {
    return this.#sink.rows;
  }

  get struct(): Json | undefined {
    return this.#options.parser.struct;
  }

  /** Writes a page. When it fails, the sink is as it was before. */
  async take(content: PageContent, target: PageTarget): Promise<void> {
    const { parser, writesAtOnce } = this.#options;
    const mark = this.#sink.commit();
    try {
      parser.take({ ...target, count: content.page.rows, chunks: () => content.chunks() }, this.#sink);
      if (!writesAtOnce(target.dataType)) this.#keep(content, target);
      await this.#sink.settle();
    } catch (error) {
      await this.#sink.rollback(mark);
      throw error;
    }
  }

  /** Writes what could not be written before, and gives the tables. */
  async finish(): Promise<FinishedTable[]> {
    await this.#sink.settle(true);
    this.#options.parser.finish(() => this.#pages(), this.#sink);
    return this.#sink.close();
  }

  async abandon(): Promise<void> {
    await this.#sink.abandon();
  }

  #keep(content: PageContent, { dataType, extra, filter }: PageTarget): void {
    const { pieces, rows } = content.page;
    let index = this.#filters.indexOf(filter);
    if (index < 0) index = this.#filters.push(filter) - 1;
    const parts = pieces.map((piece) => [piece.rows, piece.plain, piece.single]);
    this.#sink.keep(encodeExact([dataType, extra, index, rows, parts]), pieces);
  }

  *#pages(): Iterable<PageRows> {
    for (const { head, parts } of this.#sink.kept()) {
      const value = parseExact(head);
      const [dataType, extra, filter, count, shapes] = isList(value) ? value : [];
      if (
        typeof dataType !== 'string' ||
        !isObject(extra) ||
        !isNumber(filter) ||
        !isNumber(count) ||
        !isList(shapes)
      ) {
        throw new Error('the spool holds a page that was not written by this version');
      }
      const change = this.#filters[numberOf(filter)];
      const pieces = shapes.map((shape, i) => pieceOf(shape, parts[i] ?? new Uint8Array()));
      yield {
        dataType,
        extra,
        count: numberOf(count),
        *chunks() {
          for (const piece of pieces) yield filteredRows(piece, change);
        },
      };
    }
  }
}

function pieceOf(shape: Json, bytes: Uint8Array): RowsPiece {
  const [rows, plain, single] = isList(shape) ? shape : [];
  return {
    bytes,
    byteLength: bytes.length,
    rows: isNumber(rows) ? numberOf(rows) : 0,
    plain: plain === true,
    single: single === true,
  };
}
