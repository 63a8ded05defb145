import { writeFile } from 'node:fs/promises';
import { RunError } from '../../lib/errors.ts';
import { engineBucket } from '../../service/domain/jobs/operations/table-place.ts';
import {
  physicalColumn,
  physicalSchema,
  physicalTable,
} from '../../service/stores/tables/duckdb/identifiers.ts';
import { physicalName, schemaOfBucket } from '../../service/stores/tables/postgres/names.ts';
import type { StorageClient, Table } from '../../storage/client/index.ts';
import { readPlace } from '../../service/open/place.ts';
import { valued, type Args, type Command } from '../command.ts';
import { plural } from '../format.ts';
import { countArg } from '../shared.ts';
import { time } from './facts.ts';
import { writing } from './local-files.ts';
import { storageCommand } from './storage-command.ts';

const SCHEMA = 'gex';
const ATTACHED_AS = 'gex';
const WARN_HOURS = 24;

export const dbtSourcesCommand: Command = storageCommand({
  name: 'dbt-sources',
  describe:
    'Write the tables of a storage as sources of dbt, with freshness: in PostgreSQL, a lake or a folder',
  words: [{ name: 'file', describe: 'Where to; stdout when it is left out', isRequired: false }],
  options: {
    bucket: valued('ID', 'Only the tables of this bucket'),
    'database-schema': valued('NAME', 'In PostgreSQL, the schema that the service was started with', {
      default: SCHEMA,
    }),
    'attached-as': valued(
      'NAME',
      'The name under which DuckDB has attached the lake or the file of the folder',
      {
        default: ATTACHED_AS,
      },
    ),
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
      place: await placeOfTables(client, args),
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

/** Names under which dbt finds tables, and what tells it when a row was last changed. */
interface TablesPlace {
  /** Properties of the source of a bucket. */
  readonly source: (schema: string) => object;
  readonly schema: (bucket: string) => string;
  readonly table: (name: string) => string;
  readonly column: (name: string) => string;
}

/** Finds out by what the storage says of itself; one that says nothing is over PostgreSQL. */
async function placeOfTables(client: StorageClient, args: Args): Promise<TablesPlace> {
  const { features } = await client.index({ exclude: ['components'] });
  const isFile = features.includes('tables-duckdb');
  const branch = await branchOf(client, args, isFile);
  // Those of the default branch have the names of their buckets, but in the file of a folder.
  const shown = (bucket: string): string => (branch === undefined ? bucket : engineBucket(branch, bucket));
  if (!isFile && !features.includes('tables-lake')) {
    const own = schemaArg(args);
    return {
      schema: (bucket) => schemaOfBucket(own, shown(bucket)),
      table: physicalName,
      column: physicalName,
      source: (schema) => ({
        schema,
        quoting: { identifier: true },
        // The time at which a row was last changed, in UTC.
        loaded_at_field: `_timestamp at time zone 'UTC'`,
      }),
    };
  }
  const database = args.text('attached-as') ?? ATTACHED_AS;
  return {
    schema: (bucket) => physicalSchema(shown(bucket)),
    table: physicalTable,
    column: physicalColumn,
    source: (schema) => ({
      database,
      schema,
      quoting: { schema: true, identifier: true },
      // A time without an offset is one in UTC to dbt.
      loaded_at_field: '_timestamp',
    }),
  };
}

/** Returns the number of the branch whose tables are meant; undefined for the default one, unless that is needed. */
async function branchOf(client: StorageClient, args: Args, isNeeded: boolean): Promise<number | undefined> {
  const given = args.text('branch');
  if (given === undefined && !isNeeded) return undefined;
  const branches = await client.branches.list();
  const meant = branches.find(({ id, isDefault }) =>
    given === undefined || given === 'default' ? isDefault : String(id) === given,
  );
  return meant === undefined || (meant.isDefault && !isNeeded) ? undefined : meant.id;
}

interface SourceOptions {
  readonly place: TablesPlace;
  readonly warnHours: number;
  readonly errorHours: number | undefined;
}

/** Returns the content of a `sources.yml`: a source for each bucket. An alias has no table in the database. */
function sourcesOf(tables: readonly Table[], { place, warnHours, errorHours }: SourceOptions): object {
  const buckets = Map.groupBy(
    tables.filter(({ isAlias }) => !isAlias),
    ({ id }) => id.split('.').slice(0, 2).join('.'),
  );
  requireOwnSchemas([...buckets.keys()], place);
  return {
    sources: [...buckets].map(([bucket, own]) => ({
      name: bucket.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'),
      description: `Bucket ${bucket}`,
      ...place.source(place.schema(bucket)),
      freshness: {
        warn_after: { count: warnHours, period: 'hour' },
        ...(errorHours === undefined ? {} : { error_after: { count: errorHours, period: 'hour' } }),
      },
      tables: own.map((table) => ({
        name: table.name,
        ...(place.table(table.name) === table.name ? {} : { identifier: place.table(table.name) }),
        meta: { table: table.id, last_load: time(table.lastImportDate), primary_key: table.primaryKey },
        columns: (table.columns ?? []).map((name) => ({ name: place.column(name), quote: true })),
      })),
    })),
  };
}

/** Two buckets whose schemas would have one name: which of them got it is known to the database alone. */
function requireOwnSchemas(buckets: readonly string[], place: TablesPlace): void {
  for (const [name, same] of Map.groupBy(buckets, place.schema)) {
    if (same.length < 2) continue;
    throw new RunError(
      'command.invalid',
      `The buckets ${same.join(' and ')} would both be the schema ${name}.`,
      { hint: 'Write the sources of the others with --bucket, and look up the schemas of these.' },
    );
  }
}
