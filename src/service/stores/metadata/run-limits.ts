import type { ConfigurationKey } from './tables.ts';

/** What the token of a run may do beside what its buckets and files allow; everything else is refused to it. */
export interface RunLimits extends ConfigurationKey {
  /** Id of the run. */
  readonly run: number;
  /** The version of the configuration that it goes by: it sees no other. */
  readonly version?: number | undefined;
  /** Tags that it may add to files that it may read: the `processed_tags` of its input mapping. */
  readonly tags: readonly string[];
  /** Buckets of the default branch that it may read: a run in another branch takes from there what its own lacks. */
  readonly production?: { readonly branch_id: number; readonly buckets: readonly string[] } | undefined;
}

/** Tells whether it is the configuration of the run: it reads it, and stores the states of it and of its rows. */
export function isOwnConfiguration(limits: RunLimits | undefined, key: ConfigurationKey): boolean {
  return (
    limits !== undefined &&
    limits.branch_id === key.branch_id &&
    limits.component_id === key.component_id &&
    limits.configuration_id === key.configuration_id
  );
}
