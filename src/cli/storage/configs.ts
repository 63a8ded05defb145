import { RunError } from '../../lib/errors.ts';
import type { Configuration } from '../../storage/client/index.ts';
import { valued, flag, type Command } from '../command.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { formatTable } from '../format.ts';
import { configRowCommands, describeRows } from './config-rows.ts';
import { versionCommands } from './config-versions.ts';
import {
  changesArg,
  componentWord,
  configWord,
  contentOptions,
  nameOption,
  noteArg,
  noteOption,
  nothing,
  switchOptions,
  rowOption,
} from './config-words.ts';
import { facts, short, time } from './facts.ts';
import { storageCommand } from './storage-command.ts';
import { readJson } from './local-files.ts';

const stateCommand = storageCommand({
  name: 'state',
  describe: 'Print the state that the last run left, replace it, or let the next run be a first one',
  words: [componentWord, configWord],
  options: {
    row: rowOption,
    set: valued('FILE', 'Replace it by this JSON; - is stdin'),
    reset: flag('Empty it'),
  },
  examples: [
    ['gex storage configs state ex-generic-v2 42', 'The state as JSON'],
    ['gex storage configs state ex-generic-v2 42 --row users --reset', 'Begin one row anew'],
  ],
  async run({ args, client, show }) {
    const file = args.text('set');
    if (file !== undefined && args.isSet('reset'))
      throw new RunError('command.invalid', '--set and --reset exclude each other.', {
        hint: 'Leave one out.',
      });
    const isChange = file !== undefined || args.isSet('reset');
    const state = file === undefined ? {} : await readJson(file);
    const id = args.word('config');
    const row = args.text('row');
    const configs = client.configurations(args.word('component'));
    const now =
      row === undefined
        ? await (isChange ? configs.updateState(id, state) : configs.detail(id))
        : await (isChange ? configs.rows(id).updateState(row, state) : configs.rows(id).detail(row));
    show(now.state, () => formatJson(now.state));
  },
});

export const configCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List the configurations of a component',
    words: [componentWord],
    options: { deleted: flag('Those in the trash') },
    examples: [['gex storage configs list ex-generic-v2', 'Those of the extractor']],
    async run({ args, client, show }) {
      const component = args.word('component');
      const isDeleted = args.isSet('deleted');
      const configs = await client.configurations(component).list(isDeleted ? { isDeleted } : {});
      // A component that isn't there has none, and may be a slip.
      if (configs.length === 0) await client.component(component);
      show(configs, () => (configs.length === 0 ? 'There are no configurations.' : describeConfigs(configs)));
    },
  }),
  storageCommand({
    name: 'show',
    describe: 'Show a configuration with its rows; # values are shown encrypted, as they are kept',
    words: [componentWord, configWord],
    examples: [['gex storage configs show ex-generic-v2 42', 'One configuration']],
    async run({ args, client, show }) {
      const config = await client.configurations(args.word('component')).detail(args.word('config'));
      show(config, () => describeConfig(config));
    },
  }),
  storageCommand({
    name: 'create',
    describe: 'Create a configuration; plain # values are encrypted by the service',
    words: [componentWord, { name: 'name', describe: 'Its name', isRequired: true }],
    options: {
      ...contentOptions,
      id: valued('ID', 'Its id; a new number by default'),
      disable: switchOptions.disable,
    },
    makesStorage: true,
    examples: [['gex storage configs create ex-generic-v2 "My API" --file config.json', 'From a file']],
    async run({ args, client, show }) {
      const id = args.text('id');
      const name = args.word('name');
      const config = await client.configurations(args.word('component')).create({
        ...(await changesArg(args, undefined)),
        name,
        ...(id === undefined ? {} : { configurationId: id }),
      });
      show(config, () => `created ${config.id} (${config.name})`);
    },
  }),
  storageCommand({
    name: 'update',
    describe: 'Change a configuration; what is not given stays',
    words: [componentWord, configWord],
    options: { name: nameOption, ...contentOptions, ...switchOptions },
    examples: [
      [
        'gex storage configs update ex-generic-v2 42 --file config.json --note "Second page"',
        'A new version',
      ],
    ],
    async run({ args, client, show }) {
      const changes = await changesArg(args, args.text('name'));
      if (Object.keys(changes).length === 0) throw nothing();
      const config = await client.configurations(args.word('component')).update(args.word('config'), changes);
      show(config, () => `${config.id} is at version ${config.version}`);
    },
  }),
  stateCommand,
  ...configRowCommands,
  ...versionCommands,
  storageCommand({
    name: 'delete',
    describe: 'Put a configuration into the trash',
    words: [componentWord, configWord],
    options: { purge: flag('Delete one that is in the trash for good') },
    examples: [['gex storage configs delete ex-generic-v2 42', 'It can be restored']],
    async run({ args, client, show }) {
      const id = args.word('config');
      const configs = client.configurations(args.word('component'));
      const trash = await configs.list({ isDeleted: true });
      const isTrash = trash.some((config) => config.id === id);
      if (isTrash !== args.isSet('purge')) throw wrongPlace(id, isTrash);
      await configs.delete(id);
      show({ deleted: [id] }, () => (isTrash ? `deleted ${id} for good` : `${id} is in the trash`));
    },
  }),
  storageCommand({
    name: 'restore',
    describe: 'Take a configuration out of the trash',
    words: [componentWord, { name: 'config', describe: 'Its id', isRequired: true }],
    options: { note: noteOption },
    examples: [['gex storage configs restore ex-generic-v2 42', 'As it was']],
    async run({ args, client, show }) {
      const configs = client.configurations(args.word('component'));
      const config = await configs.restore(args.word('config'), noteArg(args));
      show(config, () => `${config.id} is at version ${config.version}`);
    },
  }),
];

function wrongPlace(id: string, isTrash: boolean): RunError {
  const message = isTrash ? `${id} is in the trash already.` : `${id} is not in the trash.`;
  return new RunError('command.invalid', message, {
    hint: isTrash ? 'With --purge it is deleted for good.' : 'Leave --purge out to put it there.',
  });
}

function describeConfigs(configs: readonly Configuration[]): string {
  return formatTable(
    ['id', 'name', 'version', 'rows', 'changed', ''],
    configs.map((config) => [
      config.id,
      short(config.name),
      String(config.version),
      String(config.rows.length),
      time(config.currentVersion?.created ?? config.created),
      config.isDisabled ? 'disabled' : '',
    ]),
    ['version', 'rows'],
  );
}

function describeConfig(config: Configuration): string {
  const { currentVersion, rows } = config;
  const head = facts([
    ['id', config.id],
    ['name', config.name],
    ['description', config.description],
    ['version', String(config.version)],
    ['changed', time(currentVersion?.created ?? config.created)],
    ['by', currentVersion?.creatorToken.description ?? ''],
    ['note', config.changeDescription],
    ['runs', config.isDisabled ? 'no: it is disabled' : ''],
  ]);
  const table = rows.length === 0 ? [] : [describeRows(rows)];
  return [head, ...table, formatJson(config.configuration)].join('\n\n');
}
