import { quoteCell } from '../../lib/csv/write.ts';
import { entriesOf, toText, type AnyObject, type Json } from '../../lib/json/index.ts';
import { safeName, type NameScope } from './names.ts';

/** The extra columns of one page, ready for its rows. */
export interface PageExtras {
  /** Quoted cells of all extra columns of the table, in header order. */
  readonly cells: readonly string[];
  /** As they are appended to a row before it is hashed. */
  readonly entries: readonly (readonly [string, Json])[];
}

/**
 * Renames of extra columns, shared by all tables of a run: once a table had to call `tag` `tag_u0`, every table
 * written later does so too (kept as the reference has it).
 */
export type Aliases = Map<string, string>;

export interface TableExtrasOptions {
  readonly aliases: Aliases;
  /** Tells whether the table's records have a property of exactly this name. */
  readonly hasProperty: (key: string) => boolean;
  /** Names of the table's own columns, in a scope of its own. */
  readonly scope: () => NameScope;
  /** The columns as they were at the end, for writing the table again. */
  readonly final?: TableExtras;
}

/**
 * The extra columns of one table: user data and parent columns behind the data, or `JSON_parentId` in a nested table.
 * The columns are the union over all pages; a page without one leaves it blank.
 */
export class TableExtras {
  /** Name after renaming → header. */
  #headers: Map<string, string>;
  readonly #aliases: Aliases;
  readonly #hasProperty: (key: string) => boolean;
  readonly #scope: () => NameScope;
  /** Raw name → the column it got on the first page that had it: a later rename elsewhere does not move it. */
  #columns: Map<string, string>;
  #seen: Set<string>;
  /** A copy has the same maps, until one of the two learns something. */
  #isShared: boolean;
  /** The names of the last page when they had not come in this form before. */
  learned: string | undefined;

  /** @param before what it knows already, for a copy */
  constructor({ aliases, hasProperty, scope, final }: TableExtrasOptions, before?: TableExtras) {
    this.#aliases = aliases;
    this.#hasProperty = hasProperty;
    this.#scope = scope;
    this.#isShared = before !== undefined;
    if (before !== undefined) before.#isShared = true;
    this.#headers =
      before === undefined ? new Map(final === undefined ? [] : final.#headers) : before.#headers;
    this.#columns = before === undefined ? new Map<string, string>() : before.#columns;
    this.#seen = before === undefined ? new Set<string>() : before.#seen;
  }

  get headers(): string[] {
    return [...this.#headers.values()];
  }

  /** The columns by the names that they were given, behind renames. */
  get named(): readonly (readonly [key: string, header: string])[] {
    return [...this.#headers];
  }

  get size(): number {
    return this.#headers.size;
  }

  /** Returns a copy, to restore when an attempt to write a page fails. */
  copy(): TableExtras {
    return new TableExtras(
      { aliases: this.#aliases, hasProperty: this.#hasProperty, scope: this.#scope },
      this,
    );
  }

  /** Takes the extra columns of a page; new ones are added to the table. */
  page(extra: AnyObject): PageExtras {
    const kept: [string, Json][] = [];
    const renamed: [string, Json][] = [];
    const values = new Map<string, Json>();
    for (const [key, value] of entriesOf(extra)) {
      const known = this.#aliases.get(key) ?? key;
      const name = this.#freeName(known);
      const column = this.#columns.get(key) ?? name;
      if (!this.#columns.has(key) || !this.#headers.has(column)) {
        this.#unshare();
        this.#columns.set(key, column);
        if (!this.#headers.has(column)) this.#headers.set(column, this.#newHeader(column));
      }
      values.set(column, value);
      if (name !== known) this.#aliases.set(key, name);
      (name === known ? kept : renamed).push([name, value]);
    }
    const entries = [...kept, ...renamed];
    const cells: string[] = [];
    for (const name of this.#headers.keys()) cells.push(quoteCell(toText(values.get(name))));
    this.#remember(entries);
    return { cells, entries };
  }

  #newHeader(column: string): string {
    const scope = this.#scope();
    for (const header of this.#headers.values()) scope.reserve(header);
    return scope.take(safeName(column));
  }

  #remember(entries: readonly (readonly [string, Json])[]): void {
    const names = JSON.stringify(entries.map(([name]) => name));
    this.learned = this.#seen.has(names) ? undefined : names;
    if (this.learned === undefined) return;
    this.#unshare();
    this.#seen.add(names);
  }

  #unshare(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    this.#headers = new Map(this.#headers);
    this.#columns = new Map(this.#columns);
    this.#seen = new Set(this.#seen);
  }

  /** Returns a free name for an extra column: a data property of exactly this name keeps it. */
  #freeName(key: string): string {
    if (!this.#hasProperty(key)) return key;
    for (let i = 0; ; i++) if (!this.#hasProperty(`${key}_u${i}`)) return `${key}_u${i}`;
  }
}
