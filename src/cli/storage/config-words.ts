import { RunError } from '../../lib/errors.ts';
import { getKey, isObject, type AnyObject } from '../../lib/json/index.ts';
import { componentIds, configIds, rowIds } from './id-word.ts';
import { flag, valued, type Args, type Option } from '../command.ts';
import { readJson } from './local-files.ts';

export const componentWord = {
  name: 'component',
  describe: 'Such as ex-generic-v2',
  isRequired: true,
  ids: componentIds,
} as const;
export const configWord = { name: 'config', describe: 'Its id', isRequired: true, ids: configIds } as const;
export const rowWord = { name: 'row', describe: 'Id of the row', isRequired: true, ids: rowIds } as const;

export const rowOption: Option = valued('ID', 'Of this row, and not of the whole');
export const noteOption: Option = valued('TEXT', 'What the version says it changed');

/** Options that configurations and rows share. */
export const contentOptions = {
  file: valued('FILE', 'The configuration as JSON; - is stdin'),
  description: valued('TEXT', 'What it is for'),
  note: noteOption,
} as const satisfies Record<string, Option>;

export const nameOption: Option = valued('NAME', 'A new name');

export const switchOptions = {
  enable: flag('Let it run'),
  disable: flag('Let it not run'),
} as const satisfies Record<string, Option>;

export interface Changes {
  readonly name?: string;
  readonly description?: string;
  readonly configuration?: unknown;
  readonly changeDescription?: string;
  readonly isDisabled?: boolean;
}

/** Returns the changes that the options make; others stay as they are. */
export async function changesArg(args: Args, name: string | undefined): Promise<Changes> {
  const file = args.text('file');
  const description = args.text('description');
  if (args.isSet('disable') && args.isSet('enable'))
    throw new RunError('command.invalid', '--enable and --disable exclude each other.', {
      hint: 'Leave one out.',
    });
  const isDisabled = args.isSet('disable') ? true : args.isSet('enable') ? false : undefined;
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(file === undefined ? {} : { configuration: await readContent(file) }),
    ...(isDisabled === undefined ? {} : { isDisabled }),
    ...noteArg(args),
  };
}

/** Reads the content of a configuration or a row, and not the document around it that a data folder may have. */
async function readContent(file: string): Promise<AnyObject> {
  const content = await readJson(file);
  if (!isObject(getKey(content, 'configuration')) || !Array.isArray(getKey(content, 'rows'))) return content;
  throw new RunError('command.invalid', `${file} is a configuration together with its rows.`, {
    where: { file },
    hint: 'Give what is below its “configuration” alone, and each row with: gex storage configs row-create',
  });
}

export function noteArg(args: Args): { readonly changeDescription?: string } {
  const note = args.text('note');
  return note === undefined ? {} : { changeDescription: note };
}

export function nothing(): RunError {
  return new RunError('command.invalid', 'There is nothing to change.', {
    hint: 'Give what is new, such as --file config.json or --name "My API".',
  });
}
