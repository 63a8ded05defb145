import type { Entry, Group } from './command.ts';

/** `gex storage <resource> <verb>`: each resource is loaded when it is asked for. */
export const storageGroup: Group = {
  name: 'storage',
  describe: 'Look into a storage and change it: buckets, tables, files, jobs and configurations',
  load: async () => [...RESOURCES, (await import('./storage/push.ts')).pushCommand],
};

const RESOURCES: readonly Entry[] = [
  {
    name: 'buckets',
    describe: 'Buckets: what tables are in',
    load: async () => (await import('./storage/buckets.ts')).bucketCommands,
  },
  {
    name: 'tables',
    describe: 'Tables: preview, load, export, change',
    load: async () => (await import('./storage/tables.ts')).tableCommands,
  },
  {
    name: 'files',
    describe: 'Files: upload, download, tag',
    load: async () => (await import('./storage/files.ts')).fileCommands,
  },
  {
    name: 'jobs',
    describe: 'Jobs: loads, exports and whatever else takes time',
    load: async () => (await import('./storage/jobs.ts')).jobCommands,
  },
  {
    name: 'configs',
    describe: 'Configurations of components, with their rows, states and versions',
    load: async () => (await import('./storage/configs.ts')).configCommands,
  },
];
