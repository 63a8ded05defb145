import type { Context } from '../domain/context.ts';
import type { BranchRow } from '../stores/metadata/tables.ts';
import type { Caller } from '../domain/tokens/caller.ts';
import { requireBucket, requireComponent } from '../domain/tokens/permissions.ts';
import { isOwnConfiguration } from '../stores/metadata/run-limits.ts';
import { notFound } from '../domain/api-error.ts';

/**
 * Refuses callers who may not even read the resource that the address names: a bucket, one of its tables, or a
 * component. Each route checks further permissions itself.
 *
 * @throws {ApiError} 403, 404
 */
export function requireNamed(
  { catalogue }: Pick<Context, 'catalogue'>,
  {
    caller,
    branch,
    params: { bucket, table, component, configuration = '' },
  }: {
    readonly caller: Caller;
    readonly branch: BranchRow;
    readonly params: Readonly<Record<string, string>>;
  },
): void {
  if (bucket !== undefined) requireBucket(caller, branch.id, bucket, 'read');
  if (table !== undefined) requireBucket(caller, branch.id, table.split('.').slice(0, 2).join('.'), 'read');
  if (component === undefined) return;
  if (catalogue.find(component) === undefined) throw notFound(`Component ${component} not found`);
  const key = { branch_id: branch.id, component_id: component, configuration_id: configuration };
  if (!isOwnConfiguration(caller.runLimits, key)) requireComponent(caller, component);
}
