import type { Command } from '../command.ts';
import { logOptions } from '../shared.ts';
import { storeOptions } from './move-options.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  describe: 'Copy everything of one storage into another, empty one, and compare both',
  options: {
    from: {
      type: 'string',
      value: 'DIR',
      describe: 'The folder to copy; no service may be running over it',
    },
    to: {
      type: 'string',
      value: 'DIR',
      describe: 'Where to: a folder that is new or empty, or the one of a migration that was cut short',
    },
    ...storeOptions,
    json: { type: 'boolean', describe: 'Print what was moved as JSON' },
    ...logOptions,
  },
  examples: [['gex storage migrate --from storage --to /data/storage', 'A folder into another one']],
  async run(args, io) {
    const { migrate } = await import('./move.ts');
    return await migrate(args, io);
  },
};
