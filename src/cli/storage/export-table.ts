import { createGzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { flag, valued, type Args, type Command } from '../command.ts';
import { RunError } from '../../lib/errors.ts';
import type { ParquetTarget } from '../../runner/parquet-files.ts';
import { formatBytes } from '../format.ts';
import { saveStream, sizeOf } from '../../storage/client/transfer/save.ts';
import { writing } from './local-files.ts';
import { tableWord } from './id-word.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { saveTyped } from './typed-export.ts';
import { rowOptions, rowsQuery } from './where.ts';

/** Formats of files that have the types of the table. */
const TYPED = ['parquet', 'jsonl', 'xlsx'] as const satisfies readonly ParquetTarget[];

export const exportCommand: Command = storageCommand({
  name: 'export',
  describe: 'Write the rows of a table as CSV, to a file or to stdout; or as a file with its types',
  words: [
    tableWord,
    { name: 'file', describe: 'Where to; stdout when it is left out, or -', isRequired: false },
  ],
  options: {
    ...rowOptions,
    'no-header': flag('Leave the line with the names of the columns out'),
    gzip: flag('Compress what is written'),
    format: valued(
      'FORMAT',
      'csv, or into a file with the types of the table: parquet, jsonl for lines of JSON, xlsx for spreadsheets',
      { choices: ['csv', ...TYPED], default: 'csv' },
    ),
  },
  examples: [
    ['gex storage tables export in.c-main.users users.csv', 'Into a file'],
    [
      'gex storage tables export in.c-main.users users.parquet --format parquet',
      'With the types of the table',
    ],
    [
      'gex storage tables export in.c-main.users users.xlsx --format xlsx --where age>=18',
      'For spreadsheets',
    ],
    [
      'gex storage tables export in.c-main.users --where age>=18 --columns id,name | head',
      'To another program',
    ],
  ],
  async run(context) {
    const { args, client, io, show } = context;
    const table = args.word('table');
    const [file = '-'] = args.words('file');
    const query = rowsQuery(args);
    const format = formatArg(args, file);
    const options = { ...query, header: !args.isSet('no-header'), signal: io.signal };
    const rows = async (): Promise<Readable> => compressed(context, await client.tables.read(table, options));
    if (file === '-') {
      await io.send(await rows());
      return;
    }
    const bytes = await writing(file, async () => {
      if (format === undefined) await saveStream(await rows(), file, io.signal);
      else await saveTyped(context, table, query, { file, format });
      return await sizeOf(file);
    });
    show({ table, file, bytes }, () => `${file}: ${formatBytes(bytes)}`);
  },
});

/** @throws {RunError} where such a file cannot be written */
function formatArg(args: Args, file: string): ParquetTarget | undefined {
  const given = args.text('format');
  const format = TYPED.find((each) => each === given);
  if (format === undefined) return undefined;
  if (file === '-')
    throw new RunError('command.invalid', `--format ${format} needs a file to write to.`, {
      hint: `Name it behind the table, such as rows.${format}.`,
    });
  const odd = ['gzip', 'no-header'].find((name) => args.isSet(name));
  if (odd === undefined) return format;
  throw new RunError('command.invalid', `--${odd} is for CSV, and not for --format ${format}.`, {
    hint: `Leave --${odd} out.`,
  });
}

function compressed({ args }: StorageContext, rows: Readable): Readable {
  if (!args.isSet('gzip')) return rows;
  // A failure of the source arrives at whoever reads.
  return pipeline(rows, createGzip(), () => {});
}
