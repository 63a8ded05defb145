import { valued, type Command } from '../command.ts';
import { logOptions } from '../shared.ts';
import { fromStoreOptions } from './move-options.ts';

export const backupCommand: Command = {
  name: 'backup',
  describe: 'Write everything of a storage into a tar file, also while its service runs',
  words: [
    { name: 'file', describe: 'The tar file to write; keep it as safe as the storage', isRequired: true },
  ],
  options: {
    storage: valued('DIR', 'The folder of the storage; storage by default'),
    from: valued(
      'DIR|URL',
      'The same, or the database (postgres://…) that processes of a service share; GEX_FROM_DATABASE_URL by default, where no folder is named',
    ),
    'from-database-schema': valued('NAME', 'Its schema; gex by default'),
    ...fromStoreOptions,
    ...logOptions,
  },
  examples: [
    ['gex storage backup storage.tar', 'Keep a copy of ./storage'],
    [
      'gex storage backup storage.tar --from postgres://gex@db.example.com/gex --from-s3 https://s3.example.com --from-s3-bucket files',
      'Keep a copy of a database with its object store',
    ],
  ],
  async run(args, io) {
    const { backUp } = await import('./back-up.ts');
    return await backUp(args, io);
  },
};
