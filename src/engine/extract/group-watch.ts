import type { Group } from '../jobs/index.ts';
import { toText, type Json } from '../../lib/json/index.ts';
import type { Doubt } from '../completeness/index.ts';
import type { PageContent } from './content.ts';

/** Sees whether the answer to a request for several parent rows speaks of those, and of no others. */
export class GroupWatch {
  readonly #group: Group;
  readonly #asked: ReadonlySet<string>;
  #strangers = 0;

  constructor(group: Group, values: readonly Json[]) {
    this.#group = group;
    this.#asked = new Set(values.map(toText));
  }

  /** Observes each page before its rows are read. */
  watch(content: PageContent): void {
    const { by } = this.#group;
    if (by === undefined) return;
    content.onRows({
      take: (rows) => {
        for (const row of rows) {
          const value = by.find(row);
          if (value === undefined || !this.#asked.has(toText(value))) this.#strangers++;
        }
      },
    });
  }

  doubts(): readonly Doubt[] {
    const { by, at } = this.#group;
    if (by === undefined || this.#strangers === 0) return [];
    return [{ code: 'strangers', page: 1, key: `${at}.by`, path: by.text, rows: this.#strangers }];
  }
}
