import type { Buckets } from './buckets.ts';
import type { Catalog } from './catalog.ts';
import type { Connections } from './connection.ts';

/** What the work on tables is given. */
export interface Store {
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly buckets: Buckets;
  /** Schema of the service. */
  readonly service: string;
  /** Collation that knows small and capital letters. */
  readonly letters: string;
}
