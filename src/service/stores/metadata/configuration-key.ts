import type { ConfigurationKey } from './tables.ts';

/** The key alone, of anything that has more. */
export const keyOf = ({ branch_id, component_id, configuration_id }: ConfigurationKey): ConfigurationKey => ({
  branch_id,
  component_id,
  configuration_id,
});
