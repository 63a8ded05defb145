import { closeSync, openSync, readSync } from 'node:fs';
import { encodeExact, isList, isObject, parseExact, type AnyObject } from '../../lib/json/index.ts';
import type { BodyPlace } from '../recording/record-file.ts';
import { Appender } from '../sink/appender.ts';
import { guard } from '../sink/file-error.ts';

/** A page that was written, and where its answer is kept. */
export interface IndexedPage {
  readonly dataType: string;
  readonly extra: AnyObject;
  /** Number of the source of its rows. */
  readonly source: number;
  /** Rows. */
  readonly count: number;
  readonly status: number;
  readonly body: BodyPlace;
  /** Type of the answer, where it declares an encoding other than UTF-8. */
  readonly contentType?: string;
  /** Start of the answer's record, if its rows were a stream. */
  readonly answerAt?: number;
  /** Facts besides the body that the steps of the job used. */
  readonly facts?: AnyObject;
}

const BLOCK_BYTES = 1 << 16;

/**
 * The pages of a bucket in the order in which they were written, for a second reading. It is a file, a line of JSON for
 * each, so that memory does not grow with the run; the answers themselves are in the recording.
 */
export class PageIndex {
  readonly #path: string;
  readonly #out: Appender;
  /** Facts of the last page beside its numbers, and their JSON: most pages have the same ones. */
  #known:
    | (Pick<IndexedPage, 'dataType' | 'extra'> & {
        readonly facts: AnyObject | undefined;
        readonly contentType: string | undefined;
        readonly text: string;
      })
    | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#out = new Appender(path);
  }

  add(page: IndexedPage): void {
    const { dataType, extra, source, count, status, body, contentType, answerAt, facts } = page;
    const known = this.#known;
    const isKnown =
      known?.dataType === dataType &&
      known.extra === extra &&
      known.facts === facts &&
      known.contentType === contentType;
    const text = isKnown ? known.text : encodeExact([dataType, extra, facts ?? null, contentType ?? null]);
    this.#known = { dataType, extra, facts, contentType, text };
    const numbers = `${source},${count},${status},${body.at},${body.bytes}`;
    this.#out.text(`${text.slice(0, -1)},${numbers}${answerAt === undefined ? '' : `,${answerAt}`}]\n`);
  }

  /** See {@link Appender.isBehind}. */
  get isBehind(): boolean {
    return this.#out.isBehind;
  }

  /** See {@link Appender.settle}. */
  async settle(all = false): Promise<void> {
    await this.#out.settle(all);
  }

  /** Yields all pages, in order; `settle(true)` first. */
  *entries(): Iterable<IndexedPage> {
    for (const line of linesOf(this.#path)) yield pageOf(line);
  }

  async close(): Promise<void> {
    await this.#out.abandon();
  }
}

function pageOf(line: string): IndexedPage {
  const value = parseExact(line);
  const [dataType, extra, facts, contentType, ...numbers] = isList(value) ? value : [];
  if (typeof dataType !== 'string' || extra === undefined || !isObject(extra))
    throw new Error('the page index has a line that it did not write');
  const [source = 0, count = 0, status = 0, at = 0, bytes = 0, answerAt] = numbers.map(Number);
  const body = { at, bytes };
  return {
    dataType,
    extra,
    source,
    count,
    status,
    body,
    ...(answerAt === undefined ? {} : { answerAt }),
    ...(isObject(facts) ? { facts } : {}),
    ...(typeof contentType === 'string' ? { contentType } : {}),
  };
}

function* linesOf(path: string): Generator<string> {
  const fd = guard(path, () => openSync(path, 'r'));
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let rest = Buffer.alloc(0);
    for (;;) {
      const count = guard(path, () => readSync(fd, block));
      if (count === 0) return;
      const bytes = Buffer.concat([rest, block.subarray(0, count)]);
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
        yield bytes.toString('utf8', from, end);
        from = end + 1;
      }
      rest = bytes.subarray(from);
    }
  } finally {
    closeSync(fd);
  }
}

const NEWLINE = 0x0a;
