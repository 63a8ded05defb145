import { RunError } from '../../lib/errors.ts';
import type { StorageClient } from '../../storage/client/index.ts';
import type { Args, Word } from '../command.ts';

/** A word that names something of the storage. */
export interface IdWord extends Word {
  /** Existing ids, for a word that names nothing. */
  readonly ids?: Ids;
  /** Command that makes what is named and not there, where that may be what is wanted. */
  readonly made?: (given: string) => string;
}

/** The ids of what a word may name. */
export type Ids = (client: StorageClient, args: Args) => Promise<readonly string[]>;

const bucketIds: Ids = async (client) => (await client.buckets.list()).map(({ id }) => id);
const tableIds: Ids = async (client) => (await client.tables.list()).map(({ id }) => id);
export const componentIds: Ids = async (client) => (await client.components()).map(({ id }) => id);
export const configIds: Ids = async (client, args) =>
  (await client.configurations(args.word('component')).list()).map(({ id }) => id);
export const rowIds: Ids = async (client, args) =>
  (await client.configurations(args.word('component')).rows(args.word('config')).list()).map(({ id }) => id);

export const bucketWord: IdWord = {
  name: 'bucket',
  describe: 'Such as in.c-main',
  isRequired: true,
  ids: bucketIds,
};
/** A bucket in which something is made: it may be made as well. */
export const targetBucketWord: IdWord = {
  ...bucketWord,
  made(given) {
    const { stage = 'in', name = 'NAME' } =
      /^(?:(?<stage>in|out)\.c-)?(?<name>\w[\w-]*)$/.exec(given)?.groups ?? {};
    return `gex storage buckets create ${name}${stage === 'in' ? '' : ` --stage ${stage}`}`;
  },
};
export const tableWord: IdWord = {
  name: 'table',
  describe: 'Such as in.c-main.users',
  isRequired: true,
  ids: tableIds,
};

/** Returns a word that is a number. @throws {RunError} `command.invalid` */
export function numberWord(args: Args, name: string): number {
  return numberOf(args.word(name), name);
}

export function numberOf(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RunError('command.invalid', `<${name}> is a number, and not “${text}”.`, {
    hint: 'It is in the first column of the list.',
  });
}
