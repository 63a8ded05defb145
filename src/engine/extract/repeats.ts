import type { PageContent } from './content.ts';
import { digestOf } from './page-steps.ts';

/** Rows of one stretch that are remembered: more than APIs with such a bound give at once. */
const MOST = 200_000;

/**
 * Remembers the rows of a job that starts again behind its last row: the first pages behind the border bring some of
 * them again. A row is the same where its JSON is. Looked for until a page brings none.
 */
export class Repeats {
  #stretch = new Set<string>();
  #before: ReadonlySet<string> | undefined;
  #leftOut = 0;

  get leftOut(): number {
    return this.#leftOut;
  }

  /** Notes that the pages begin again. */
  begin(): void {
    this.#before = this.#stretch;
    this.#stretch = new Set();
  }

  /** Takes each page, once, in order: rows that came before are not written. */
  see(content: PageContent): void {
    const before = this.#before;
    const again = new Set<string>();
    for (const rows of content.chunks()) {
      for (const row of rows) {
        const digest = digestOf(row);
        if (before?.has(digest) === true) {
          again.add(digest);
          this.#leftOut++;
        } else if (this.#stretch.size < MOST) this.#stretch.add(digest);
      }
    }
    if (again.size > 0) content.leaveOut(again);
    else this.#before = undefined;
  }
}
