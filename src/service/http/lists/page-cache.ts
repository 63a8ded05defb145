/** Page of a list, as its database describes it before it is read. */
export interface PageToKeep {
  /** Name of the page and its list: two forms of the same page have two names. */
  readonly name: string;
  /**
   * Everything that the page was made of: while it is the same, the page is. It is read before the page, so that a
   * page is never older than its key; undefined for a page that cannot be identified so.
   */
  readonly madeOf: string | undefined;
}

interface KeptPage {
  readonly madeOf: string;
  readonly bytes: Buffer;
}

/**
 * Cache of the bytes of pages as they were sent last; the pages that were not requested for the longest time are
 * dropped first.
 */
export class PageCache {
  readonly #pages = new Map<string, KeptPage>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the page from the cache, or makes it. */
  async page({ name, madeOf }: PageToKeep, make: () => Promise<string>): Promise<Buffer> {
    const known = this.#pages.get(name);
    if (known !== undefined) this.#drop(name, known);
    const isCurrent = known !== undefined && known.madeOf === madeOf;
    const bytes = isCurrent ? known.bytes : Buffer.from(await make());
    if (madeOf !== undefined) this.#keep(name, { madeOf, bytes });
    return bytes;
  }

  #keep(name: string, page: KeptPage): void {
    const other = this.#pages.get(name);
    if (other !== undefined) this.#drop(name, other);
    this.#pages.set(name, page);
    this.#bytes += sizeOf(name, page);
    // The first of a map is the one that was put into it first.
    for (const [oldest, its] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest, its);
    }
  }

  #drop(name: string, page: KeptPage): void {
    this.#pages.delete(name);
    this.#bytes -= sizeOf(name, page);
  }
}

const sizeOf = (name: string, { madeOf, bytes }: KeptPage): number =>
  name.length + madeOf.length + bytes.length;
