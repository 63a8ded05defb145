import { rm } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { flag, valued, type Args, type Command } from '../command.ts';
import { RunError } from '../../lib/errors.ts';
import type { FileFormat } from '../../runner/typed-files.ts';
import { formatBytes } from '../format.ts';
import { saveStream, sizeOf } from '../../storage/client/transfer/save.ts';
import { writing } from './local-files.ts';
import { tableWord } from './id-word.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { rowOptions, rowsQuery } from './where.ts';

export const exportCommand: Command = storageCommand({
  name: 'export',
  describe: 'Write the rows of a table as CSV, to a file or to stdout; or as Parquet or lines of JSON',
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
      'csv, or into a file parquet, or jsonl for lines of JSON, with the types of the table',
      { choices: ['csv', 'parquet', 'jsonl'], default: 'csv' },
    ),
  },
  examples: [
    ['gex storage tables export in.c-main.users users.csv', 'Into a file'],
    [
      'gex storage tables export in.c-main.users users.parquet --format parquet',
      'With the types of the table',
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
    const options = { ...rowsQuery(args), header: !args.isSet('no-header'), signal: io.signal };
    const format = formatArg(args, file);
    const rows = async (): Promise<Readable> => compressed(context, await client.tables.read(table, options));
    if (file === '-') {
      await io.send(await rows());
      return;
    }
    const bytes = await writing(file, async () => {
      if (format === undefined) await saveStream(await rows(), file, io.signal);
      else await saveTyped(context, { table, file, format, rows });
      return await sizeOf(file);
    });
    show({ table, file, bytes }, () => `${file}: ${formatBytes(bytes)}`);
  },
});

/** @throws {RunError} where such a file cannot be written */
function formatArg(args: Args, file: string): FileFormat | undefined {
  const given = args.text('format');
  const format = given === 'parquet' || given === 'jsonl' ? given : undefined;
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

interface TypedExport {
  readonly table: string;
  readonly file: string;
  readonly format: FileFormat;
  readonly rows: () => Promise<Readable>;
}

/** Saves the rows as CSV beside the file first: they are read once more, by the database that writes the file. */
async function saveTyped(
  { client, io }: StorageContext,
  { table, file, format, rows }: TypedExport,
): Promise<void> {
  const { typeNamed, writeTypedFile } = await import('../../runner/typed-files.ts');
  const { definition } = await client.tables.detail(table);
  const types = (definition?.columns ?? []).flatMap(
    ({ name, definition: said, basetype }): [string, string][] => {
      const { type = basetype, length } = said ?? {};
      const known =
        typeof type === 'string'
          ? typeNamed(type, typeof length === 'string' ? length : undefined)
          : undefined;
      return known === undefined ? [] : [[name, known]];
    },
  );
  const csv = `${file}.csv.part`;
  try {
    await saveStream(await rows(), csv, io.signal);
    await writeTypedFile({ csv, file, format, types: new Map(types) });
  } finally {
    await rm(csv, { force: true });
  }
}

function compressed({ args }: StorageContext, rows: Readable): Readable {
  if (!args.isSet('gzip')) return rows;
  // A failure of the source arrives at whoever reads.
  return pipeline(rows, createGzip(), () => {});
}
