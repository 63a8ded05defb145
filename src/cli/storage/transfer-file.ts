import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../../lib/errors.ts';
import type { File } from '../../storage/client/index.ts';
import { flag, valued, listed, type Command } from '../command.ts';
import { formatBytes } from '../format.ts';
import { describeFiles } from './file-list.ts';
import { numberWord } from './id-word.ts';
import { localBody, localSlices, writing } from './local-files.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { namesArg } from './where.ts';

/** Commands that move the content of files. */
export const transferCommands: readonly Command[] = [
  storageCommand({
    name: 'upload',
    describe: 'Upload files',
    words: [{ name: 'path', describe: 'A file; a folder with --sliced', isRequired: true, isList: true }],
    options: {
      tag: listed('TAG', 'A tag of theirs; may be given several times'),
      name: valued('NAME', 'Name in the storage; that of the file by default'),
      permanent: flag('Keep it until it is deleted, and not for some days only'),
      gzip: flag('Compress on the way; .gz is put behind the name'),
      sliced: flag('Make one file of a folder, of which each file is a slice'),
    },
    makesStorage: true,
    examples: [
      ['gex storage files upload invoices.zip --tag invoices --permanent', 'A file to keep'],
      ['gex storage files upload slices --sliced --gzip', 'A folder as one file in slices'],
    ],
    async run(context) {
      const { args, client, show } = context;
      const paths = args.words('path');
      if (args.text('name') !== undefined && paths.length > 1)
        throw new RunError('command.invalid', '--name is for one file, and there are several.', {
          hint: 'Upload them one by one, or leave --name out.',
        });
      const files: File[] = [];
      for (const each of paths) files.push(await client.files.detail(await upload(context, each)));
      show(files, () => describeFiles(files));
    },
  }),
  storageCommand({
    name: 'download',
    describe: 'Download a file; the slices of a sliced one behind each other',
    words: [
      { name: 'id', describe: 'Number of the file', isRequired: true },
      {
        name: 'path',
        describe: 'Where to; by its name in this folder when left out, - is stdout',
        isRequired: false,
      },
    ],
    options: {
      gunzip: flag('Take the compression off'),
      header: valued('A,B', 'Write a CSV header with these names in front'),
    },
    examples: [
      ['gex storage files download 1034', 'By its name'],
      ['gex storage files download 1034 - --gunzip | head', 'To another program'],
    ],
    run: download,
  }),
];

async function upload({ args, client, io }: StorageContext, from: string): Promise<number> {
  const options = {
    name: args.text('name') ?? path.basename(path.resolve(from)),
    tags: args.list('tag'),
    isPermanent: args.isSet('permanent'),
    gzip: args.isSet('gzip'),
    signal: io.signal,
  };
  const { id } = args.isSet('sliced')
    ? await client.files.uploadSliced(await localSlices(from), options)
    : await client.files.upload(await localBody(from), options);
  return id;
}

async function download({ args, client, io, show }: StorageContext): Promise<void> {
  const id = numberWord(args, 'id');
  const gunzip = args.isSet('gunzip');
  const options = { gunzip, header: namesArg(args, 'header'), signal: io.signal };
  const [to] = args.words('path');
  if (to === '-') {
    await io.send(await client.files.read(id, options));
    return;
  }
  const { name } = await client.files.detail(id);
  // A name is only a name here, whatever it holds.
  const own = path.basename(name).replace(gunzip ? /\.gz$/i : /^$/, '');
  const isFolder = to !== undefined && existsSync(to) && statSync(to).isDirectory();
  const file = to === undefined ? own : isFolder ? path.join(to, own) : to;
  const { bytes } = await writing(file, () => client.files.downloadTo(id, file, options));
  show({ id, file, bytes }, () => `${file}: ${formatBytes(bytes)}`);
}
