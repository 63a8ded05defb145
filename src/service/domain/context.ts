import type { Keys } from '../../lib/encryption/index.ts';
import type { Env } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import type { Metrics } from '../platform/health/metrics.ts';
import type { Readiness } from '../platform/health/readiness.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Database } from '../platform/database/database.ts';
import type { Observer } from './events/observer.ts';
import type { Queue } from '../stores/queue/queue.ts';
import type { Meta } from '../stores/metadata/database.ts';
import type { Project } from '../stores/metadata/projects.ts';

/** The dependencies that all modules of a service share. */
export interface Context {
  /** The folder of this process; undefined where several processes share a database and an object store. */
  readonly dir: string | undefined;
  readonly meta: Meta;
  /** The database that the metadata is in, when that is PostgreSQL: for what is kept beside it. */
  readonly database?: Database | undefined;
  readonly project: Project;
  readonly catalogue: Catalogue;
  /** Keys for `#` values; the first one encrypts. */
  readonly keys: Keys;
  readonly env: Env;
  readonly log: Log;
  readonly observer: Observer;
  /** Work that waits, for whichever process takes it: jobs of the storage, runs, schedules, upkeep. */
  readonly queue: Queue;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  /** The address that clients use, without a slash at the end; the one of the request's Host when undefined. */
  readonly publicUrl: string | undefined;
}
