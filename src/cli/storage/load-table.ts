import path from 'node:path';
import { describeError, RunError, StorageError } from '../../lib/errors.ts';
import { webalize } from '../../lib/names.ts';
import { flag, valued, type Command, type Args, type Option } from '../command.ts';
import { plural } from '../format.ts';
import { localBody } from './local-files.ts';
import { tableWord, targetBucketWord } from './id-word.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { namesArg } from './where.ts';
import type { CsvFormat } from '../../storage/client/index.ts';

/** How a CSV file is to be read. */
const csvOptions = {
  delimiter: valued('SIGN', 'Between the values; a comma by default, \\t is a tab'),
  enclosure: valued('SIGN', 'Around the values; " by default, none for no quotes'),
  'escaped-by': valued('SIGN', 'In front of quotes, instead of doubling them'),
  columns: valued('A,B', 'Names of the columns of a file without a header'),
} as const satisfies Record<string, Option>;

function csvFormat(args: Args): CsvFormat & { readonly columns?: readonly string[] } {
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

const fileWord = {
  name: 'file',
  describe: 'A CSV file, which is compressed as FILE.gz; or a Parquet file',
  isRequired: true,
} as const;

/** Commands that put a local file into a table. */
export const loadCommands: readonly Command[] = [
  storageCommand({
    name: 'create',
    describe: 'Create a table from a CSV or Parquet file',
    words: [targetBucketWord, fileWord],
    options: {
      name: valued('NAME', 'Name of the table; that of the file by default'),
      'primary-key': valued('A,B', 'Columns that tell rows apart'),
      ...csvOptions,
    },
    examples: [
      ['gex storage tables create in.c-main users.csv --primary-key id', 'in.c-main.users'],
      ['gex storage tables create in.c-main users.parquet', 'From Parquet, with its types'],
    ],
    async run(context) {
      const { args, client, line, show } = context;
      const file = args.word('file');
      const primaryKey = namesArg(args, 'primary-key');
      const bucket = args.word('bucket');
      // A missing bucket is told before the upload.
      await client.buckets.detail(bucket);
      const name = args.text('name') ?? tableName(file);
      const table = await withUpload(
        context,
        file,
        async (dataFileId) =>
          await client.tables.create(
            bucket,
            { name, dataFileId, ...csvFormat(args), ...(primaryKey === undefined ? {} : { primaryKey }) },
            line.wait,
          ),
      );
      const made = await client.tables.detail(table.id);
      show(made, () => `created ${made.id} with ${plural(made.rowsCount ?? 0, 'row')}`);
    },
  }),
  storageCommand({
    name: 'load',
    describe: 'Load a CSV or Parquet file into a table: its rows replace those that are there',
    words: [tableWord, fileWord],
    options: {
      incremental: flag('Keep the rows that are there; one with the same key is replaced'),
      ...csvOptions,
    },
    examples: [
      ['gex storage tables load in.c-main.users users.csv', 'Replace the rows'],
      ['gex storage tables load in.c-main.users new.csv --incremental', 'Add rows'],
    ],
    async run(context) {
      const { args, client, line, show } = context;
      const id = args.word('table');
      await client.tables.detail(id);
      const load = { incremental: args.isSet('incremental'), ...csvFormat(args) };
      const result = await withUpload(
        context,
        args.word('file'),
        async (dataFileId, renew) =>
          await client.tables.load(id, { ...load, dataFileId }, { ...line.wait, renew }),
      );
      const { importedRowsCount, totalRowsCount } = result;
      const loaded = importedRowsCount === undefined ? '' : `loaded ${plural(importedRowsCount, 'row')}; `;
      show(result, () => `${loaded}${id} has ${plural(totalRowsCount, 'row')}`);
    },
  }),
];

/** Errors which prove that no job reads the file any more. */
const ENDED: ReadonlySet<string> = new Set([
  'storage.jobFailed',
  'storage.refused',
  'storage.forbidden',
  'storage.notFound',
]);

/** Uploads a file for one job, and takes it away again when that has ended, well or not. */
async function withUpload<T>(
  context: StorageContext,
  file: string,
  work: (dataFileId: number, renew: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const { client, log } = context;
  let dataFileId = await upload(context, file);
  const renew = async (): Promise<number> => (dataFileId = await upload(context, file));
  // A file that stays is removed by the service after some days.
  const takeAway = async (): Promise<void> =>
    await client.files
      .delete(dataFileId)
      .catch((error: unknown) => log.debug(`The file ${dataFileId} stays: ${describeError(error)}`));
  try {
    const result = await work(dataFileId, renew);
    await takeAway();
    return result;
  } catch (error) {
    if (error instanceof StorageError && ENDED.has(error.code)) await takeAway();
    throw error;
  }
}

async function upload({ client, gzip }: StorageContext, file: string): Promise<number> {
  const name = path.basename(file);
  // Parquet is compressed within, and found by its content.
  const isCompressed = /\.(?:gz|parquet)$/i.test(name);
  const { id } = await client.files.upload(await localBody(file), { name, gzip: gzip && !isCompressed });
  return id;
}

function tableName(file: string): string {
  const name = webalize(path.basename(file).replace(/(?:\.csv|\.tsv|\.txt|\.parquet)?(?:\.gz)?$/i, ''));
  if (name !== '') return name;
  throw new RunError(
    'command.invalid',
    'The name of the file has nothing that a table could be named after.',
    {
      hint: 'Give one with --name.',
    },
  );
}
