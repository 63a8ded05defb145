import { systemEnv } from '../lib/env.ts';
import { reasonOf, RunError } from '../lib/errors.ts';
import { ObjectError } from '../service/stores/objects/errors.ts';
import type { ExternalStoreOptions } from '../service/stores/objects/external-store.ts';
import { flag, valued, type Args, type Io, type Option } from './command.ts';
import { urlArg } from './shared.ts';

/** The options of `gex serve` for an object store of others; the environment may have them too, as `GEX_S3_…`. */
export const objectOptions = {
  s3: valued(
    'URL',
    'Keep the bytes of files in this S3 endpoint, with GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY, and not in the folder; GEX_S3 by default, and so on for those below',
  ),
  's3-bucket': valued('NAME', 'Its bucket, which must be there'),
  's3-prefix': valued(
    'TEXT',
    'What all keys in it begin with, such as team-a/, where several storages share a bucket',
  ),
  's3-region': valued('NAME', 'Its region; us-east-1 by default'),
  's3-role-arn': valued(
    'ARN',
    'The role that is assumed to make temporary credentials, limited to a file each',
  ),
  's3-sts': valued('URL', 'Its STS, when that is at another address'),
  's3-no-encryption': flag('It refuses x-amz-server-side-encryption'),
  's3-no-checksums': flag('It knows no CRC checksums'),
} as const satisfies Record<string, Option>;

type Objects = Omit<ExternalStoreOptions, 'env'>;

/**
 * Opens the object store that the options name, and checks access to its bucket; undefined when none is named.
 * @throws {RunError} `command.invalid` for options that are missing or go without `--s3`, and for a store that refuses
 */
export async function externalObjects(
  args: Args,
  io: Io,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Objects | undefined> {
  const endpoint = urlArg(args, 's3');
  if (endpoint === undefined) {
    const stray = Object.keys(objectOptions).find(
      (name) => args.text(name) !== undefined || args.isSet(name),
    );
    if (stray === undefined) return undefined;
    throw new RunError('command.invalid', `--${stray} says something of an object store that is not named.`, {
      hint: 'Add --s3 URL, or leave it out to keep everything in the folder.',
    });
  }
  const secretAccessKey = variable(environment, 'GEX_S3_SECRET_KEY');
  io.secrets.add(secretAccessKey);
  const objects: Objects = {
    endpoint,
    publicEndpoint: urlArg(args, 's3-public-url'),
    stsEndpoint: urlArg(args, 's3-sts'),
    bucket: required(args, 's3-bucket', 'files'),
    prefix: prefixArg(args, 's3-prefix'),
    region: args.text('s3-region') ?? 'us-east-1',
    roleArn: required(args, 's3-role-arn', 'arn:aws:iam:::role/files'),
    credentials: { accessKeyId: variable(environment, 'GEX_S3_ACCESS_KEY'), secretAccessKey },
    hasEncryption: !args.isSet('s3-no-encryption'),
    hasChecksums: !args.isSet('s3-no-checksums'),
  };
  const { tryStore } = await import('../service/open/objects.ts');
  await tryStore(objects, {
    env: systemEnv,
    hint: 'Check --s3, --s3-bucket, --s3-region and the keys of the environment.',
  });
  return objects;
}

/**
 * Makes keys of the role once, for nothing: a role that is missing is told at the start as well.
 * @throws {RunError} `command.invalid`
 */
export async function tryRole(objects: Objects): Promise<void> {
  const { createExternalStore } = await import('../service/stores/objects/external-store.ts');
  const store = await createExternalStore({ ...objects, env: systemEnv });
  const expiresAt = new Date(systemEnv.now() + TRY_MS);
  try {
    await store.grant({ key: '-', isPrefix: false, access: 'upload', requiresEncryption: false, expiresAt });
  } catch (error) {
    const message = inFull(error);
    throw new RunError('command.invalid', `No temporary keys can be made: ${message}`, {
      hint: 'Check --s3-role-arn, --s3-sts and the keys of the environment.',
      cause: error,
    });
  } finally {
    store.close();
  }
}

/** Describes an error with the words of the store itself. */
function inFull(error: unknown): string {
  if (error instanceof ObjectError) return error.inFull;
  return reasonOf(error);
}

/** The shortest time that keys can be made for. */
const TRY_MS = 900_000;

/**
 * Returns the prefix of keys: folders as they are written in keys, with a slash at the end. @throws {RunError}
 * `command.invalid`
 */
export function prefixArg(args: Args, name: string): string | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const prefix = text.endsWith('/') ? text : `${text}/`;
  if (prefix.length <= MAX_PREFIX && /^(?:[\w.+=@-]*[\w+=@-]\/)+$/.test(prefix)) return prefix;
  throw new RunError('command.invalid', `--${name} is “${text}”, which keys cannot begin with everywhere.`, {
    hint: `Write names of letters, digits and -_.+=@ with slashes between them: --${name} team-a/`,
  });
}

/** Keys have 1,024 bytes. */
const MAX_PREFIX = 200;

function required(args: Args, name: string, example: string): string {
  const text = args.text(name);
  if (text !== undefined) return text;
  throw new RunError('command.invalid', `--s3 needs --${name} as well.`, {
    hint: `Write for example --${name} ${example}.`,
  });
}

function variable(environment: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = environment[name] ?? '';
  if (text !== '') return text;
  throw new RunError('command.invalid', `--s3 needs the environment variable ${name}.`, {
    hint: 'Keys are never options, since those show in the list of processes.',
  });
}
