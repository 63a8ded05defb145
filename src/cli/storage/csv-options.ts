import { RunError } from '../../lib/errors.ts';
import type { CsvFormat } from '../../storage/client/index.ts';
import { valued, type Args, type Option } from '../command.ts';
import { namesArg } from './where.ts';

/** How a CSV file is to be read. */
export const csvOptions = {
  delimiter: valued('SIGN', 'Between the values; a comma by default, \\t is a tab'),
  enclosure: valued('SIGN', 'Around the values; " by default, none for no quotes'),
  'escaped-by': valued('SIGN', 'In front of quotes, instead of doubling them'),
  columns: valued('A,B', 'Names of the columns of a file without a header'),
} as const satisfies Record<string, Option>;

export function csvFormat(args: Args): CsvFormat & { readonly columns?: readonly string[] } {
  const delimiter = signArg(args, 'delimiter');
  const escapedBy = signArg(args, 'escaped-by');
  const enclosure = args.text('enclosure') === 'none' ? '' : signArg(args, 'enclosure');
  const columns = namesArg(args, 'columns');
  return {
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(enclosure === undefined ? {} : { enclosure }),
    ...(escapedBy === undefined ? {} : { escapedBy }),
    ...(columns === undefined ? {} : { columns }),
  };
}

function signArg(args: Args, name: string): string | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const sign = text === '\\t' ? '\t' : text;
  if (sign.length === 1) return sign;
  throw new RunError('command.invalid', `--${name} is one sign, and not “${text}”.`, {
    hint: `Write for example --${name} ";".`,
  });
}
