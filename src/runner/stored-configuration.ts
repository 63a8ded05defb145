import { parseConfig, type ConfigDocument } from '../engine/config/index.ts';
import { encodeExact, type Json } from '../lib/json/index.ts';
import type { StorageClient } from '../storage/client/client.ts';
import { StorageError } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';

/** A configuration that the service keeps. */
export interface ConfigurationPlace {
  readonly component: string;
  readonly configuration: string;
}

export interface StoredConfiguration {
  readonly document: ConfigDocument;
  readonly name: string;
  /** The version that the run goes by, whatever is changed meanwhile. */
  readonly version: number;
  readonly isDisabled: boolean;
}

/**
 * Fetches the present configuration with its rows, exactly.
 *
 * @throws {StorageError} `storage.notFound`, with the way to see what there is
 */
export async function fetchConfiguration(
  client: StorageClient,
  { component, configuration }: ConfigurationPlace,
): Promise<StoredConfiguration> {
  const found = await client
    .configurations(component)
    .detail(configuration)
    .catch((error: unknown) => {
      throw withHint(error, component);
    });
  const { name, version, isDisabled } = found;
  // as it was parsed
  const text = encodeExact(found as unknown as Json);
  const label = `configuration ${configuration} of ${component}, version ${version}`;
  return { document: parseConfig(text, label), name, version, isDisabled };
}

function withHint(error: unknown, component: string): unknown {
  if (!(error instanceof StorageError) || error.code !== 'storage.notFound') return error;
  return new StorageError(error.code, error.message, {
    cause: error,
    details: error.details,
    hint: `See what there is with: gex storage configs list ${shellWord(component)}, with the same --storage and --branch`,
  });
}
