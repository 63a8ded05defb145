import type { ConfigurationKey } from './tables.ts';

/** Rights of the token of a run beside those for its buckets and files; everything else is refused to it. */
export interface RunLimits extends ConfigurationKey {
  /** Id of the run. */
  readonly run: number;
  /** The version of the configuration that the run uses: its token sees no other. */
  readonly version?: number | undefined;
  /** Tags that it may add to files that it may read: the `processed_tags` of its input mapping. */
  readonly tags: readonly string[];
  /** Buckets of the default branch that it may read: a run in another branch takes from there what its own lacks. */
  readonly production?: { readonly branch_id: number; readonly buckets: readonly string[] } | undefined;
}

/**
 * Tells whether it is the configuration of the run, which it may read, and whose states and row states it may store.
 */
export function isOwnConfiguration(limits: RunLimits | undefined, key: ConfigurationKey): boolean {
  return (
    limits !== undefined &&
    limits.branch_id === key.branch_id &&
    limits.component_id === key.component_id &&
    limits.configuration_id === key.configuration_id
  );
}
