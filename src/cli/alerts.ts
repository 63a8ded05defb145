import type { CommandGroup } from './command.ts';

/** `gex alerts`: who is told when runs of a service go wrong. */
export const alertsGroup: CommandGroup = {
  name: 'alerts',
  describe: 'Look at the alerts of a service, which tell people when runs go wrong, and change them',
  example: ['gex alerts', 'All alerts, with what each sees to be wrong'],
  fallback: 'list',
  load: async () => (await import('./alerts/commands.ts')).alertCommands,
};
