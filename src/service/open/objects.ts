import { RunError } from '../../lib/errors.ts';
import type { OpenOptions } from '../../storage/client/open-options.ts';
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
