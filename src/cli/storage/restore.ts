import { flag, valued, type Command } from '../command.ts';
import { logOptions } from '../shared.ts';
import { toStoreOptions } from './move-options.ts';

export const restoreCommand: Command = {
  name: 'restore',
  describe: 'Make a storage of a backup, after a look whether it is whole',
  words: [{ name: 'file', describe: 'What gex storage backup wrote', isRequired: true }],
  options: {
    to: valued(
      'DIR|URL',
      'A folder that is new or empty, or a database (postgres://…) without a project, or one of a restore that was cut short. GEX_TO_DATABASE_URL by default',
    ),
    'to-database-schema': valued('NAME', 'Its schema; gex by default'),
    ...toStoreOptions,
    json: flag('Print what was restored as JSON'),
    ...logOptions,
  },
  examples: [
    ['gex storage restore storage.tar --to storage', 'Then gex serve --dir storage'],
    [
      'gex storage restore storage.tar --to postgres://gex@db.example.com/gex --to-s3 https://s3.example.com --to-s3-bucket files',
      'Into a database with its object store',
    ],
  ],
  async run(args, io) {
    const { restore } = await import('./restore-backup.ts');
    return await restore(args, io);
  },
};
