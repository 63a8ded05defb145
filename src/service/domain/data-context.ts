import type { Context } from './context.ts';
import type { ObjectStore } from '../stores/objects/store.ts';
import type { TableEngine } from '../stores/tables/engine.ts';

/** What the routes and the work on files and tables are given. */
export interface DataContext extends Context {
  readonly objects: ObjectStore;
  readonly engine: TableEngine;
  /** Address of the API, for what is made outside of a request. */
  origin(): string;
}
