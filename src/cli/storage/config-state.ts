import { RunError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { componentWord, configWord, rowOption } from './config-words.ts';
import { readJson } from './local-files.ts';
import { storageCommand } from './storage-command.ts';
import { flag, valued } from '../command.ts';

export const stateCommand = storageCommand({
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
