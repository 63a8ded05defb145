import { createGzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { flag, type Command } from '../command.ts';
import { formatBytes } from '../format.ts';
import { saveStream, sizeOf } from '../../storage/client/transfer/save.ts';
import { writing } from './local-files.ts';
import { tableWord } from './id-word.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { rowOptions, rowsQuery } from './where.ts';

export const exportCommand: Command = storageCommand({
  name: 'export',
  describe: 'Write the rows of a table as CSV, to a file or to stdout',
  words: [
    tableWord,
    { name: 'file', describe: 'Where to; stdout when it is left out, or -', isRequired: false },
  ],
  options: {
    ...rowOptions,
    'no-header': flag('Leave the line with the names of the columns out'),
    gzip: flag('Compress what is written'),
  },
  examples: [
    ['gex storage tables export in.c-main.users users.csv', 'Into a file'],
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
    const rows = async (): Promise<Readable> => compressed(context, await client.tables.read(table, options));
    if (file === '-') {
      await io.send(await rows());
      return;
    }
    const bytes = await writing(file, async () => {
      await saveStream(await rows(), file, io.signal);
      return await sizeOf(file);
    });
    show({ table, file, bytes }, () => `${file}: ${formatBytes(bytes)}`);
  },
});

function compressed({ args }: StorageContext, rows: Readable): Readable {
  if (!args.isSet('gzip')) return rows;
  // A failure of the source arrives at whoever reads.
  return pipeline(rows, createGzip(), () => {});
}
