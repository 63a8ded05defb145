import type { Env } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type { OpenOptions } from '../../storage/client/open-options.ts';
import { ObjectError } from '../stores/objects/errors.ts';
import type { ExternalStoreOptions } from '../stores/objects/external-store.ts';

/**
 * Returns the object store that the environment names, in the variables of `gex serve`; undefined without `GEX_S3`.
 *
 * @throws {RunError} `command.invalid` for variables that are missing
 */
export function objectsOf(
  environment: OpenOptions['environment'],
  secrets: OpenOptions['secrets'],
): Omit<ExternalStoreOptions, 'env'> | undefined {
  const given = (name: string): string | undefined => {
    const value = environment[`GEX_S3${name}`] ?? '';
    return value === '' ? undefined : value;
  };
  const required = (name: string): string => {
    const value = given(name);
    if (value !== undefined) return value;
    throw new RunError('command.invalid', `GEX_S3 needs the environment variable GEX_S3${name} as well.`, {
      hint: 'Set it as for “gex serve”, or unset GEX_S3.',
    });
  };
  const isSet = (name: string): boolean => /^(?:1|true|yes)$/i.test(given(name) ?? '');
  const endpoint = given('');
  if (endpoint === undefined) return undefined;
  const secretAccessKey = required('_SECRET_KEY');
  secrets?.add(secretAccessKey);
  const prefix = given('_PREFIX');
  return {
    endpoint,
    publicEndpoint: given('_PUBLIC_URL'),
    stsEndpoint: given('_STS'),
    bucket: required('_BUCKET'),
    prefix: prefix === undefined || prefix.endsWith('/') ? prefix : `${prefix}/`,
    region: given('_REGION') ?? 'us-east-1',
    roleArn: required('_ROLE_ARN'),
    credentials: { accessKeyId: required('_ACCESS_KEY'), secretAccessKey },
    hasEncryption: !isSet('_NO_ENCRYPTION'),
    hasChecksums: !isSet('_NO_CHECKSUMS'),
  };
}

/**
 * Checks access to an object store: a wrong bucket or key is reported before anything is stored that names it.
 *
 * @param options.hint names what may be wrong
 * @throws {RunError} `command.invalid`
 */
export async function tryStore(
  objects: Omit<ExternalStoreOptions, 'env'>,
  { env, hint }: { readonly env: Env; readonly hint: string },
): Promise<void> {
  const { createExternalStore } = await import('../stores/objects/external-store.ts');
  const store = await createExternalStore({ ...objects, env });
  try {
    await store.list('-')[Symbol.asyncIterator]().next();
  } catch (error) {
    throw troubleOfStore(error, objects.bucket, hint);
  } finally {
    store.close();
  }
}

/** Returns a readable error for an object store that cannot be used; any other error is returned unchanged. */
export function troubleOfStore(error: unknown, bucket: string, hint = STORE_HINT): unknown {
  if (!(error instanceof ObjectError)) return error;
  const message = `The bucket “${bucket}” of the object store cannot be used: ${error.inFull} (${error.code})`;
  return new RunError('command.invalid', message, { hint, cause: error });
}

/** Advice where the environment names the store. */
export const STORE_HINT =
  'Check GEX_S3, GEX_S3_BUCKET, GEX_S3_REGION, GEX_S3_ROLE_ARN and the keys of the environment.';
