import type { AnyObject, Json } from '../../../lib/json/index.ts';
import type { PageTables } from '../lines.ts';
import type { ScalarText } from '../look.ts';
import type { ColumnEntry } from './mapping.ts';

/** Properties that all rows of a page share. */
export interface MappedPage {
  /** Extra columns by raw name. */
  readonly extra: AnyObject;
  /** Returns the extra columns as part of a generated key; empty text when there are none. */
  extraText(): string;
  readonly tables: PageTables;
  /** Text of values other than texts. */
  readonly scalar: ScalarText;
  /**
   * Returns the salt that makes the generated key of a row unlike that of an equal one, another each time; empty if
   * equal rows share a key.
   */
  salt(): string;
  /** Says where in the run the row is that is written. */
  place(): string;
  /** Notes a value that does not fit its column. */
  note(entry: ColumnEntry, cell: string): void;
}

/** The text of a cell, before it is quoted. */
export type CellText = (row: Json, page: MappedPage) => string;
