import { typeOf, VALUE, type ColumnType } from './column-type.ts';

/** The first value of a kind in a column. */
export interface FirstValue {
  readonly kind: number;
  /** Its text, cut. */
  readonly value: string;
  /** Page that it came with; undefined for one that is not told. */
  readonly page: string | undefined;
}

/** Change of the type of a column by a value. */
export interface Widening {
  readonly from: ColumnType;
  readonly to: ColumnType;
  readonly page?: string;
  readonly value: string;
}

/** Characters of a value that a report shows. */
const SHOWN = 60;

/** Kinds of the values of one column, so far, and the first value of each. */
export class SeenValues {
  #kinds = 0;
  /** Kinds that were known before this run. */
  #known = 0;
  #firsts: FirstValue[] = [];

  get kinds(): number {
    return this.#kinds;
  }

  /** True when no further value can change anything. */
  get isText(): boolean {
    return this.#kinds === VALUE.text;
  }

  /** Tells whether such a value came before, or it is a null. */
  has(kind: number): boolean {
    return (this.#kinds & kind) === kind;
  }

  get firsts(): readonly FirstValue[] {
    return this.#firsts;
  }

  /** Takes what earlier runs have seen. */
  know(kinds: number): void {
    this.#known = joined(this.#known, kinds);
    this.#kinds = joined(this.#kinds, kinds);
  }

  /** Takes the kind of a value; 0 is a null. */
  see(kind: number, value: () => string, page: string | undefined): void {
    if (this.has(kind)) return;
    const kinds = joined(this.#kinds, kind);
    if (kinds === this.#kinds) return;
    this.#kinds = kinds;
    const text = value();
    this.#firsts.push({ kind, value: text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text, page });
  }

  /** Takes what another thread has seen in rows that follow. */
  seeAll(firsts: readonly FirstValue[], page: string | undefined): void {
    for (const { kind, value } of firsts) this.see(kind, () => value, page);
  }

  forget(): void {
    this.#kinds = 0;
    this.#known = 0;
    this.#firsts = [];
  }

  get type(): ColumnType | undefined {
    return typeOf(this.#kinds);
  }

  /** Returns the changes of the type in this run. */
  get widenings(): readonly Widening[] {
    const widenings: Widening[] = [];
    let kinds = this.#known;
    for (const { kind, value, page } of this.#firsts) {
      const from = typeOf(kinds);
      kinds = joined(kinds, kind);
      const to = typeOf(kinds);
      if (from !== undefined && to !== undefined && from !== to)
        widenings.push({ from, to, ...(page === undefined ? {} : { page }), value });
    }
    return widenings;
  }
}

/** Joins two sets of kinds; one that only text holds is text, so that the order leaves no trace. */
function joined(a: number, b: number): number {
  const kinds = a | b;
  return typeOf(kinds) === 'text' ? VALUE.text : kinds;
}
