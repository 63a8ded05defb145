import type { Context } from './context.ts';
import type { ObjectStore } from '../stores/objects/store.ts';
import type { TableEngine } from '../stores/tables/engine.ts';

/** Dependencies of the routes and the operations on files and tables. */
export interface DataContext extends Context {
  readonly objects: ObjectStore;
  readonly engine: TableEngine;
  /** Returns the address of the API, for links that are made outside of a request. */
  origin(): string;
}
