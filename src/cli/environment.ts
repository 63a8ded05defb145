import type { Args } from './command.ts';

/** Adds options from the environment that are not on the command line: `--s3-bucket` is `GEX_S3_BUCKET`. */
export function orEnvironment(
  args: Args,
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Args {
  const valueOf = (name: string): string | undefined => {
    const value = names.includes(name) ? environment[variableOf(name)] : undefined;
    return value === '' ? undefined : value;
  };
  return {
    ...args,
    text: (name) => args.text(name) ?? valueOf(name),
    isSet: (name) => args.isSet(name) || /^(?:1|true|yes)$/i.test(valueOf(name) ?? ''),
  };
}

const variableOf = (name: string): string => `GEX_${name.toUpperCase().replaceAll('-', '_')}`;
