import { flag, valued, type Command } from '../command.ts';
import { logOptions } from '../shared.ts';
import { fromStoreOptions, toStoreOptions } from './move-options.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  describe: 'Copy everything of one storage into another, empty one, and compare both',
  options: {
    from: valued(
      'DIR|URL',
      'The folder or the database (postgres://…) to copy; no service may be running over it. GEX_FROM_DATABASE_URL by default',
    ),
    to: valued(
      'DIR|URL',
      'Where to: a folder or a database that is empty, or one of a migration that was cut short. GEX_TO_DATABASE_URL by default',
    ),
    'from-database-schema': valued('NAME', 'Its schema; gex by default'),
    'to-database-schema': valued('NAME', 'Its schema; gex by default'),
    ...fromStoreOptions,
    ...toStoreOptions,
    json: flag('Print what was moved as JSON'),
    ...logOptions,
  },
  examples: [['gex storage migrate --from storage --to /data/storage', 'A folder into another one']],
  async run(args, io) {
    const { migrate } = await import('./move.ts');
    return await migrate(args, io);
  },
};
