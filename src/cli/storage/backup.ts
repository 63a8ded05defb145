import type { Command } from '../command.ts';

export const backupCommand: Command = {
  name: 'backup',
  describe: 'Write everything of a storage into a tar file, also while its service runs',
  words: [
    { name: 'file', describe: 'The tar file to write; keep it as safe as the storage', isRequired: true },
  ],
  options: {
    storage: { type: 'string', value: 'DIR', default: 'storage', describe: 'The folder of the storage' },
  },
  examples: [['gex storage backup storage.tar', 'Keep a copy of ./storage']],
  async run(args, io) {
    const { backUp } = await import('./back-up.ts');
    return await backUp(args, io);
  },
};
