import type { Command } from '../command.ts';

export const restoreCommand: Command = {
  name: 'restore',
  describe: 'Make a storage of a backup, after a look whether it is whole',
  words: [{ name: 'file', describe: 'What gex storage backup wrote', isRequired: true }],
  options: {
    to: { type: 'string', value: 'DIR', describe: 'A folder that is new or empty' },
  },
  examples: [['gex storage restore storage.tar --to storage', 'Then gex serve --dir storage']],
  async run(args, io) {
    const { restore } = await import('./back-up.ts');
    return await restore(args, io);
  },
};
