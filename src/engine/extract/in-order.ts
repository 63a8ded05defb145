import { numberAtOnce, type RequestsAtOnce } from '../shared/at-once.ts';

/** Something to be done in its turn. */
export interface Item {
  run(): Promise<void>;
  /** Ends an item that was begun ahead of its turn, without its result. It rejects with nothing. */
  readonly abandon?: () => Promise<void>;
}

/**
 * Does things one after the other in their order. Some of them are begun ahead of their turn, up to a number; all
 * others are done as soon as nothing is before them.
 */
export class OrderedQueue {
  readonly #most: RequestsAtOnce;
  readonly #items: Item[] = [];
  #isLost = false;

  /** @param most things begun ahead, the one whose turn it is included */
  constructor(most: RequestsAtOnce) {
    this.#most = most;
  }

  /** Waits while there is too much to do. */
  add(item: Item): Promise<void> {
    return this.#items.length === 0 && item.abandon === undefined ? item.run() : this.#queue(item);
  }

  async #queue(item: Item): Promise<void> {
    this.#items.push(item);
    while (this.#isDue()) await this.#next();
  }

  /** Abandons the items behind one that will fail in its turn, and begins no more ahead. */
  lose(item: Item): void {
    const at = this.#items.indexOf(item);
    if (at === -1 || this.#isLost) return;
    this.#isLost = true;
    for (const behind of this.#items.slice(at + 1)) void behind.abandon?.();
  }

  /** Does all that is left. */
  async finish(): Promise<void> {
    while (this.#items.length > 0) await this.#next();
  }

  /** Drops all that is left. */
  async abandon(): Promise<void> {
    const left = this.#items.splice(0);
    await Promise.all(left.map(async (item) => await item.abandon?.()));
  }

  #isDue(): boolean {
    const [first] = this.#items;
    if (first === undefined) return false;
    if (this.#isLost) return true;
    const most = numberAtOnce(this.#most);
    if (first.abandon === undefined || this.#items.length > 2 * most) return true;
    return this.#items.filter(({ abandon }) => abandon !== undefined).length >= most;
  }

  async #next(): Promise<void> {
    await this.#items.shift()?.run();
  }
}
