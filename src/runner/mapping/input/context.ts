import type { Json } from '../../../lib/json/index.ts';
import type { MappingContext } from '../mapping-types.ts';

export interface PullContext extends MappingContext {
  /** Root of the row: `in/tables` and `in/files` are below it. */
  readonly folder: string;
  /** The `storage` part of the stored state. */
  readonly state: Json | undefined;
  /** For `filter_by_run_id`. */
  readonly runId?: string | undefined;
}
