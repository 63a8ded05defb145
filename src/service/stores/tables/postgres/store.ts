import type { BucketSchemas } from './buckets.ts';
import type { Catalog } from './catalog.ts';
import type { Connections } from './connection.ts';
import type { FewRows } from './few.ts';

/** Dependencies of reading tables. */
export interface ReadStore {
  readonly connections: Connections;
  readonly catalog: Catalog;
  /** Collation that knows small and capital letters. */
  readonly letters: string;
}

/** Dependencies of the work on tables. */
export interface Store extends ReadStore {
  readonly buckets: BucketSchemas;
  /** Schema of the service. */
  readonly service: string;
  /** Files of so few rows are loaded without a table of their own. */
  readonly few: FewRows;
}
