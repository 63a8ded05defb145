import type { CommandEntry, CommandGroup } from './command.ts';

/** `gex storage <resource> <verb>`: each resource is loaded when it is asked for. */
export const storageGroup: CommandGroup = {
  name: 'storage',
  describe: 'Look into a storage and change it: buckets, tables, files, jobs and configurations',
  example: ['gex storage tables list', 'List the tables of ./storage'],
  load: async () => [
    ...RESOURCES,
    (await import('./storage/push.ts')).pushCommand,
    (await import('./storage/migrate.ts')).migrateCommand,
    (await import('./storage/backup.ts')).backupCommand,
    (await import('./storage/restore.ts')).restoreCommand,
    (await import('./storage/dbt-sources.ts')).dbtSourcesCommand,
  ],
};

/**
 * Puts `storage` before one of its resources, where a command line begins with that: `gex tables show` is
 * `gex storage tables show`.
 */
export function withStorage(argv: readonly string[]): readonly string[] {
  return RESOURCES.some(({ name }) => name === argv[0]) ? [storageGroup.name, ...argv] : argv;
}

const RESOURCES: readonly CommandEntry[] = [
  {
    name: 'buckets',
    describe: 'Buckets: what tables are in',
    example: ['gex storage buckets list', 'List the buckets of ./storage'],
    load: async () => (await import('./storage/buckets.ts')).bucketCommands,
  },
  {
    name: 'tables',
    describe: 'Tables: preview, load, export, change',
    example: ['gex storage tables preview in.c-main.users', 'Show the first rows of a table'],
    load: async () => (await import('./storage/tables.ts')).tableCommands,
  },
  {
    name: 'files',
    describe: 'Files: upload, download, tag',
    example: ['gex storage files upload invoices.zip --tag invoices', 'Keep a file'],
    load: async () => (await import('./storage/files.ts')).fileCommands,
  },
  {
    name: 'jobs',
    describe: 'Jobs: loads, exports and whatever else takes time',
    example: ['gex storage jobs list --status error', 'List the jobs that failed'],
    load: async () => (await import('./storage/jobs.ts')).jobCommands,
  },
  {
    name: 'configs',
    describe: 'Configurations of components, with their rows, states and versions',
    example: ['gex storage configs list ex-generic-v2', 'List the configurations of the extractor'],
    load: async () => (await import('./storage/configs.ts')).configCommands,
  },
];
