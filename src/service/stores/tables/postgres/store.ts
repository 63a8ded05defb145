import type { Buckets } from './buckets.ts';
import type { Catalog } from './catalog.ts';
import type { Connections } from './connection.ts';
import type { FewRows } from './few.ts';

/** What reading tables needs. */
export interface ReadStore {
  readonly connections: Connections;
  readonly catalog: Catalog;
  /** Collation that knows small and capital letters. */
  readonly letters: string;
}

/** What the work on tables is given. */
export interface Store extends ReadStore {
  readonly buckets: Buckets;
  /** Schema of the service. */
  readonly service: string;
  /** Files of so few rows are loaded without a table of their own. */
  readonly few: FewRows;
}
