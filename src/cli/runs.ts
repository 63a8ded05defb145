import type { CommandGroup } from './command.ts';

/** `gex runs`: what the service ran, what went wrong, and once more. */
export const runsGroup: CommandGroup = {
  name: 'runs',
  describe: 'Look at the runs of a service: which failed and why, what each did; run them again',
  example: ['gex runs --failed --since yesterday', 'What went wrong since yesterday, by causes'],
  fallback: 'list',
  load: async () => [
    (await import('./runs/list.ts')).listRunsCommand,
    (await import('./runs/show.ts')).showRunCommand,
    ...(await import('./runs/change.ts')).changeRunCommands,
  ],
};
