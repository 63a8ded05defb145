import { RunError } from '../../lib/errors.ts';
import type { ExternalStoreOptions } from '../../service/stores/objects/external-store.ts';
import { valued, flag, type Args, type Io, type Option } from '../command.ts';
import { prefixArg } from '../serve-objects.ts';
import { urlArg } from '../shared.ts';

/** The object store of an end, named as `gex serve` names its own. */
export const fromStoreOptions = optionsOf(
  'from',
  'The files of the source are in this S3 endpoint, as with gex serve --s3',
);
export const toStoreOptions = {
  ...optionsOf('to', 'Put the files into this S3 endpoint, as with gex serve --s3'),
  'to-tables': valued(
    'KIND',
    'How the tables are kept there: lake, or as gex serve keeps them by default (postgres, duckdb)',
  ),
  'to-s3-take-over': flag(
    'The bucket belonged to a storage that is gone for good: it is this one’s from now on',
  ),
} as const satisfies Record<string, Option>;

type End = 'from' | 'to';
type Objects = Omit<ExternalStoreOptions, 'env'>;

function optionsOf<Name extends End>(
  end: Name,
  describe: string,
): Readonly<
  Record<
    `${Name}-s3` | `${Name}-s3-${'bucket' | 'no-checksums' | 'no-encryption' | 'prefix' | 'region'}`,
    Option
  >
> {
  const keys = `GEX_${end.toUpperCase()}_S3_ACCESS_KEY and GEX_${end.toUpperCase()}_S3_SECRET_KEY, or those without ${end.toUpperCase()}_`;
  // Names made of the parameter.
  return {
    [`${end}-s3`]: valued('URL', `${describe}; keys are in ${keys}`),
    [`${end}-s3-bucket`]: valued('NAME', 'Its bucket, which must be there'),
    [`${end}-s3-prefix`]: valued('TEXT', 'What all keys in it begin with'),
    [`${end}-s3-region`]: valued('NAME', 'Its region; us-east-1 by default'),
    [`${end}-s3-no-encryption`]: flag('It refuses x-amz-server-side-encryption'),
    [`${end}-s3-no-checksums`]: flag('It knows no CRC checksums'),
  } as Readonly<
    Record<
      `${Name}-s3` | `${Name}-s3-${'bucket' | 'no-checksums' | 'no-encryption' | 'prefix' | 'region'}`,
      Option
    >
  >;
}

/** Returns the object store of one end; undefined when none is named. @throws {RunError} `command.invalid` */
export function storeOf(
  end: End,
  args: Args,
  io: Io,
  environment: Readonly<Record<string, string | undefined>>,
): Objects | undefined {
  const endpoint = urlArg(args, `${end}-s3`);
  const bucket = args.text(`${end}-s3-bucket`);
  if (endpoint === undefined) {
    if (bucket === undefined) return undefined;
    throw new RunError(
      'command.invalid',
      `--${end}-s3-bucket says something of an object store that is not named.`,
      {
        hint: `Add --${end}-s3 URL.`,
      },
    );
  }
  if (bucket === undefined)
    throw new RunError('command.invalid', `--${end}-s3 needs --${end}-s3-bucket as well.`, {
      hint: `Write for example --${end}-s3-bucket files.`,
    });
  const secretAccessKey = variable(environment, end, 'S3_SECRET_KEY');
  io.secrets.add(secretAccessKey);
  return {
    endpoint,
    bucket,
    prefix: prefixArg(args, `${end}-s3-prefix`),
    region: args.text(`${end}-s3-region`) ?? 'us-east-1',
    credentials: { accessKeyId: variable(environment, end, 'S3_ACCESS_KEY'), secretAccessKey },
    hasEncryption: !args.isSet(`${end}-s3-no-encryption`),
    hasChecksums: !args.isSet(`${end}-s3-no-checksums`),
  };
}

function variable(environment: Readonly<Record<string, string | undefined>>, end: End, name: string): string {
  const own = `GEX_${end.toUpperCase()}_${name}`;
  const text = environment[own] || environment[`GEX_${name}`] || '';
  if (text !== '') return text;
  throw new RunError('command.invalid', `--${end}-s3 needs the environment variable ${own} or GEX_${name}.`, {
    hint: 'Keys are never options, since those show in the list of processes.',
  });
}
