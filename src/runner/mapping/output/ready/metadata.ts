import { StorageError } from '../../../../lib/errors.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Metadata, MetadataPair, OnceOptions } from '../../../../storage/client/index.ts';
import type { Origin } from '../../mapping-types.ts';

/** Provider of metadata about the run itself; metadata of the component has the name of the component. */
export const SYSTEM = 'system';

/** Returns the metadata that names the configuration which created a table or a bucket, or changed it last. */
export function originMetadata(origin: Origin, what: 'createdBy' | 'lastUpdatedBy'): MetadataPair[] {
  const { component, configuration, row, branch } = origin;
  const pairs = [
    ['component.id', component],
    ['configuration.id', configuration],
    ['configurationRow.id', row],
    ['branch.id', branch],
  ] as const;
  return pairs.flatMap(([key, value]) => (value === undefined ? [] : [{ key: `KBC.${what}.${key}`, value }]));
}

/**
 * Writes metadata. The rows are what matters: when the service does not take it, a warning says so and the push goes on.
 *
 * @throws {StorageError} when the service cannot be reached
 */
export async function writeMetadata(
  metadata: Metadata,
  pairs: readonly MetadataPair[],
  {
    provider,
    what,
    log,
    key,
  }: OnceOptions & { readonly provider: string; readonly what: string; readonly log: Log },
): Promise<void> {
  if (pairs.length === 0) return;
  try {
    await metadata.set(pairs, provider, { key });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn(`The metadata of ${what} was not accepted: ${error.message}`);
  }
}

const REFUSALS = new Set([
  'storage.refused',
  'storage.notFound',
  'storage.forbidden',
  'storage.unauthorized',
  'storage.unsupported',
]);

/** Tells whether the service has certainly not begun the request; any other error leaves that open. */
export function isRefusal(error: unknown): error is StorageError {
  return error instanceof StorageError && REFUSALS.has(error.code);
}

/** Tells whether the object exists already: another run created it at the same time. */
export function isTaken(error: unknown): error is StorageError {
  return error instanceof StorageError && /alreadyExists$/i.test(error.serviceCode);
}
