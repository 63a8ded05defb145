import { storageNameProblem, webalizeDisplayName } from '../../../../lib/names.ts';
import type { Origin } from '../../mapping-types.ts';

/** A table by its parts: `in.c-main.users` is `users` in the bucket `in.c-main`. */
export interface Destination {
  readonly id: string;
  readonly bucket: string;
  readonly name: string;
}

export interface DestinationOptions {
  /** Destination in the mapping. */
  readonly mapped: string | undefined;
  /** Destination in the manifest. */
  readonly manifest: string | undefined;
  /** Name in `out/tables`. */
  readonly source: string;
  readonly defaultBucket: string;
}

/** @returns where a table goes; in words why that cannot be told */
export function destinationOf({
  mapped = '',
  manifest = '',
  source,
  defaultBucket,
}: DestinationOptions): Destination | { readonly problem: string; readonly hint: string } {
  const given = mapped !== '' ? mapped : manifest !== '' ? manifest : source.replace(/\.csv$/, '');
  const isWhole = given.split('.').length === 3;
  const id = isWhole || mapped !== '' ? given : `${defaultBucket}.${given}`;
  const [stage = '', bucket = '', name = '', ...more] = id.split('.');
  const wrong =
    more.length > 0 || name === ''
      ? `“${id}” is no id of a table`
      : stage !== 'in' && stage !== 'out'
        ? `“${id}” is in a stage “${stage}”: there are “in” and “out”`
        : (bucketProblem(bucket) ?? nameProblem('table', name));
  if (wrong === undefined) return { id, bucket: `${stage}.${bucket}`, name };
  return {
    problem: `Failed to resolve destination for output table "${source}". ${wrong[0]?.toUpperCase()}${wrong.slice(1)}.`,
    hint: 'A table has an id such as in.c-main.users: give it as “destination” in the output mapping or the manifest.',
  };
}

/**
 * Returns the bucket of tables that name none: `in.c-<component>-<configuration>`. Names of local configurations may
 * have characters that are invalid in a bucket's name.
 */
export function defaultBucketOf({ component, configuration }: Origin): string {
  const name = `${component.replaceAll('.', '-')}-${configuration}`;
  return `in.c-${storageNameProblem(name) === undefined ? name : webalizeDisplayName(name)}`;
}

/** Explains why a text, unlike `in.c-main`, is no id of a bucket; undefined when it is one. */
export function bucketIdProblem(id: string): string | undefined {
  const [stage = '', bucket = '', ...more] = id.split('.');
  if ((stage === 'in' || stage === 'out') && more.length === 0) return bucketProblem(bucket);
  return `“${id}” is no id of a bucket, such as in.c-main`;
}

function bucketProblem(bucket: string): string | undefined {
  if (!bucket.startsWith('c-')) return `the name of the bucket “${bucket}” must begin with “c-”`;
  return nameProblem('bucket', bucket.slice(2));
}

function nameProblem(what: string, name: string): string | undefined {
  if (storageNameProblem(name) === undefined) return undefined;
  return `the name of the ${what} “${name}” may have letters, digits, “-” and “_”, and cannot begin with “_”`;
}
