import path from 'node:path';
import { shellWord } from '../lib/shell-word.ts';
import { listed, valued, type Command } from './command.ts';
import { plural } from './format.ts';
import { countArg, recordingOptions } from './shared.ts';

export const fixtureCommand: Command = {
  name: 'fixture',
  describe: 'Make a folder for `gex test` from the last run: configuration, answers and the tables they give',
  words: [{ name: 'folder', describe: 'The folder to make', isRequired: true }],
  options: {
    ...recordingOptions,
    pages: valued('N', 'Take the first pages of each job only'),
    rows: valued('N', 'Shorten each page to so many rows'),
    mask: listed(
      'PATH',
      'Replace what is there in the answers, such as user.email; may be given several times',
    ),
  },
  examples: [
    ['gex fixture tests/books', 'Make a test of the last run over this folder'],
    ['gex fixture tests/books --pages 2 --rows 3 --mask email', 'A small one, without addresses of people'],
    ['gex test tests', 'Run it, today and for ever'],
  ],
  async run(args, io) {
    const { withRecordings } = await import('../runner/recordings.ts');
    const { makeFixture } = await import('../authoring/testing/make-fixture.ts');
    const dataFolder = args.text('data') ?? '.';
    const rowIds = args.list('row');
    const [pages, rows] = [countArg(args, 'pages'), countArg(args, 'rows')];
    const which = { dataFolder, recording: args.text('recording'), rows: rowIds };
    const folder = args.word('folder');
    const made = await withRecordings(
      which,
      async (recordings) =>
        await makeFixture({
          dataFolder,
          recordings,
          folder,
          pages,
          rows,
          mask: args.list('mask'),
          rowIds,
          signal: io.signal,
        }),
    );
    const { exchanges, tables, rows: count, isOpen } = made;
    if (isOpen) io.note('The authentication is left out: it logs in, and logins are not recorded.');
    if (args.list('mask').length === 0)
      io.note(
        'Credentials are replaced, and the answers are as they came: --mask PATH replaces personal data.',
      );
    io.print(
      `${folder}: ${plural(exchanges, 'exchange')}, ${plural(tables, 'table')}, ${plural(count, 'row')}. It passes: gex test ${shellWord(path.normalize(folder))}`,
    );
    return 0;
  },
};
