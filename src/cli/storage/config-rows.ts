import type { ConfigurationRow } from '../../storage/client/index.ts';
import { valued, type Command } from '../command.ts';
import { formatTable } from '../format.ts';
import {
  changesArg,
  componentWord,
  configWord,
  contentOptions,
  nameOption,
  noteArg,
  noteOption,
  nothing,
  rowWord,
  switchOptions,
} from './config-words.ts';
import { short, time } from './facts.ts';
import { storageCommand } from './storage-command.ts';

/** Commands over the rows of a configuration. */
export const configRowCommands: readonly Command[] = [
  storageCommand({
    name: 'rows',
    describe: 'List the rows of a configuration, in their order',
    words: [componentWord, configWord],
    examples: [['gex storage configs rows ex-generic-v2 42', 'Its rows']],
    async run({ args, client, show }) {
      const rows = await client.configurations(args.word('component')).rows(args.word('config')).list();
      show(rows, () => (rows.length === 0 ? 'There are no rows.' : describeRows(rows)));
    },
  }),
  storageCommand({
    name: 'row-create',
    describe: 'Create a row behind the others',
    words: [componentWord, configWord, { name: 'name', describe: 'Its name', isRequired: true }],
    options: {
      ...contentOptions,
      id: valued('ID', 'Its id; a new number by default'),
      disable: switchOptions.disable,
    },
    examples: [['gex storage configs row-create ex-generic-v2 42 Users --file row.json', 'From a file']],
    async run({ args, client, show }) {
      const id = args.text('id');
      const changes = await changesArg(args, args.word('name'));
      const rows = client.configurations(args.word('component')).rows(args.word('config'));
      const row = await rows.create({ ...changes, ...(id === undefined ? {} : { rowId: id }) });
      show(row, () => `created ${row.id} (${row.name})`);
    },
  }),
  storageCommand({
    name: 'row-update',
    describe: 'Change a row; what is not given stays',
    words: [componentWord, configWord, rowWord],
    options: { name: nameOption, ...contentOptions, ...switchOptions },
    examples: [['gex storage configs row-update ex-generic-v2 42 users --disable', 'It is not run any more']],
    async run({ args, client, show }) {
      const changes = await changesArg(args, args.text('name'));
      if (Object.keys(changes).length === 0) throw nothing();
      const rows = client.configurations(args.word('component')).rows(args.word('config'));
      const row = await rows.update(args.word('row'), changes);
      show(row, () => `${row.id} is at version ${row.version}`);
    },
  }),
  storageCommand({
    name: 'row-delete',
    describe: 'Delete a row; earlier versions of the configuration keep it',
    words: [componentWord, configWord, rowWord],
    options: { note: noteOption },
    examples: [['gex storage configs row-delete ex-generic-v2 42 users', 'One row less']],
    async run({ args, client, show }) {
      const id = args.word('row');
      const rows = client.configurations(args.word('component')).rows(args.word('config'));
      const { name } = await rows.detail(id);
      await rows.delete(id, noteArg(args));
      show({ deleted: [id] }, () => `deleted ${id} (${name})`);
    },
  }),
];

export function describeRows(rows: readonly ConfigurationRow[]): string {
  return formatTable(
    ['row', 'name', 'version', 'changed', ''],
    rows.map((row) => [
      row.id,
      short(row.name),
      String(row.version),
      time(row.created),
      row.isDisabled ? 'disabled' : '',
    ]),
    ['version'],
  );
}
