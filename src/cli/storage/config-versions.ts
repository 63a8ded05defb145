import type { ConfigurationVersion, RowVersion } from '../../storage/client/index.ts';
import { valued, type Command } from '../command.ts';
import { formatTable } from '../format.ts';
import { countArg } from '../shared.ts';
import { componentWord, configWord, noteArg, noteOption, rowOption } from './config-words.ts';
import { short, time } from './facts.ts';
import { numberWord } from './id-word.ts';
import { storageCommand } from './storage-command.ts';

const versionWord = { name: 'version', describe: 'Its number', isRequired: true } as const;

/** Commands over the versions of a configuration. */
export const versionCommands: readonly Command[] = [
  storageCommand({
    name: 'versions',
    describe: 'List the versions of a configuration, the newest first',
    words: [componentWord, configWord],
    options: {
      row: rowOption,
      limit: valued('N', 'At most so many; 100 by default'),
    },
    examples: [['gex storage configs versions ex-generic-v2 42', 'What changed when']],
    async run({ args, client, show }) {
      const limit = countArg(args, 'limit');
      const query = limit === undefined ? {} : { limit };
      const [id, row] = [args.word('config'), args.text('row')];
      const configs = client.configurations(args.word('component'));
      const versions =
        row === undefined ? await configs.versions(id, query) : await configs.rows(id).versions(row, query);
      show(versions, () => describeVersions(versions));
    },
  }),
  storageCommand({
    name: 'rollback',
    describe: 'Make a new version that is like an earlier one',
    words: [componentWord, configWord, versionWord],
    options: { row: rowOption, note: noteOption },
    examples: [['gex storage configs rollback ex-generic-v2 42 3', 'Back to version 3']],
    async run({ args, client, show }) {
      const [id, row, version] = [args.word('config'), args.text('row'), numberWord(args, 'version')];
      const configs = client.configurations(args.word('component'));
      if (row === undefined) await configs.rollback(id, version, noteArg(args));
      else await configs.rows(id).rollback(row, version, noteArg(args));
      const now = row === undefined ? await configs.detail(id) : await configs.rows(id).detail(row);
      show(now, () => `${now.id} is at version ${now.version}, which is like ${version}`);
    },
  }),
  storageCommand({
    name: 'copy',
    describe: 'Create a configuration from a version of another',
    words: [
      componentWord,
      configWord,
      versionWord,
      { name: 'name', describe: 'Name of the new one', isRequired: true },
    ],
    options: { description: valued('TEXT', 'What it is for'), note: noteOption },
    examples: [['gex storage configs copy ex-generic-v2 42 3 "My API, trial"', 'From version 3']],
    async run({ args, client, show }) {
      const description = args.text('description');
      const configs = client.configurations(args.word('component'));
      const { id } = await configs.copy(args.word('config'), numberWord(args, 'version'), {
        name: args.word('name'),
        ...(description === undefined ? {} : { description }),
        ...noteArg(args),
      });
      const made = await configs.detail(id);
      show(made, () => `created ${id} (${made.name})`);
    },
  }),
];

function describeVersions(versions: readonly (ConfigurationVersion | RowVersion)[]): string {
  return formatTable(
    ['version', 'created', 'by', 'note'],
    versions.map((version) => [
      String(version.version),
      time(version.created),
      short(version.creatorToken.description),
      short(version.changeDescription),
    ]),
    ['version'],
  );
}
