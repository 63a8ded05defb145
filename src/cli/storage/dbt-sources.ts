import { writeFile } from 'node:fs/promises';
import { RunError } from '../../lib/errors.ts';
import { physicalName, schemaOfBucket } from '../../service/stores/tables/postgres/names.ts';
import type { Table } from '../../storage/client/index.ts';
import { readPlace } from '../../service/open/place.ts';
import { valued, type Args, type Command } from '../command.ts';
import { plural } from '../format.ts';
import { countArg } from '../shared.ts';
import { time } from './facts.ts';
import { writing } from './local-files.ts';
import { storageCommand } from './storage-command.ts';

const SCHEMA = 'gex';
const WARN_HOURS = 24;

export const dbtSourcesCommand: Command = storageCommand({
  name: 'dbt-sources',
  describe: 'Write the tables of a service over PostgreSQL as sources of dbt, with freshness',
  words: [{ name: 'file', describe: 'Where to; stdout when it is left out', isRequired: false }],
  options: {
    bucket: valued('ID', 'Only the tables of this bucket'),
    'database-schema': valued('NAME', 'The schema that the service was started with', { default: SCHEMA }),
    'warn-after': valued('HOURS', 'Hours without a changed row after which dbt warns', {
      default: String(WARN_HOURS),
    }),
    'error-after': valued('HOURS', 'Hours after which dbt fails; never by default'),
  },
  examples: [
    ['gex storage dbt-sources models/sources.yml --storage https://storage.example.com', 'For a dbt project'],
  ],
  async run({ args, client, io }) {
    const bucket = args.text('bucket');
    const tables = await client.tables.list({
      include: ['columns'],
      ...(bucket === undefined ? {} : { bucket }),
    });
    const document = sourcesOf(tables, {
      schema: schemaArg(args),
      warnHours: countArg(args, 'warn-after') ?? WARN_HOURS,
      errorHours: countArg(args, 'error-after'),
    });
    const { stringify } = await import('yaml');
    const text = `version: 2\n\n${stringify(document)}`;
    const [file] = args.words('file');
    if (file === undefined) io.print(text);
    else {
      await writing(file, async () => await writeFile(file, text));
      io.note(`${file}: ${plural(tables.filter(({ isAlias }) => !isAlias).length, 'table')}`);
    }
  },
});

/** Returns the schema of the service: that of the address where it names one. */
function schemaArg(args: Args): string {
  const storage = args.text('storage') ?? '';
  const place = readPlace({ storage, environment: process.env });
  const named = place.kind === 'database' ? place.schema : undefined;
  return named ?? args.text('database-schema') ?? SCHEMA;
}

interface SourceOptions {
  /** Schema of the service, which begins the names of those of buckets. */
  readonly schema: string;
  readonly warnHours: number;
  readonly errorHours: number | undefined;
}

/** Returns the content of a `sources.yml`: a source for each bucket. An alias has no table in the database. */
function sourcesOf(tables: readonly Table[], { schema, warnHours, errorHours }: SourceOptions): object {
  const buckets = Map.groupBy(
    tables.filter(({ isAlias }) => !isAlias),
    ({ id }) => id.split('.').slice(0, 2).join('.'),
  );
  requireOwnSchemas([...buckets.keys()], schema);
  return {
    sources: [...buckets].map(([bucket, own]) => ({
      name: bucket.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'),
      description: `Bucket ${bucket}`,
      schema: schemaOfBucket(schema, bucket),
      quoting: { identifier: true },
      // The time at which a row was last changed, in UTC.
      loaded_at_field: `_timestamp at time zone 'UTC'`,
      freshness: {
        warn_after: { count: warnHours, period: 'hour' },
        ...(errorHours === undefined ? {} : { error_after: { count: errorHours, period: 'hour' } }),
      },
      tables: own.map((table) => ({
        name: table.name,
        ...(physicalName(table.name) === table.name ? {} : { identifier: physicalName(table.name) }),
        meta: { table: table.id, last_load: time(table.lastImportDate), primary_key: table.primaryKey },
        columns: (table.columns ?? []).map((name) => ({ name: physicalName(name), quote: true })),
      })),
    })),
  };
}

/** Two buckets whose schemas would have one name: which of them got it is known to the database alone. */
function requireOwnSchemas(buckets: readonly string[], schema: string): void {
  for (const [name, same] of Map.groupBy(buckets, (bucket) => schemaOfBucket(schema, bucket))) {
    if (same.length < 2) continue;
    throw new RunError(
      'command.invalid',
      `The buckets ${same.join(' and ')} would both be the schema ${name}.`,
      { hint: 'Write the sources of the others with --bucket, and look up the schemas of these.' },
    );
  }
}
