import { RunError, type ErrorOptions } from '../../../../lib/errors.ts';
import { literal } from '../duckdb/identifiers.ts';
import { catalogueSchema, dataPath, type LakeOfDatabase, type LakePlace } from './place.ts';

/** Name of the lake among the databases of DuckDB. */
export const LAKE = 'lake';

/** Version of the catalogue's format; it is pinned, and never migrated in silence. */
const FORMAT = '1.0';

/** Size of a part of an upload follows from that of the largest file: DuckDB holds some parts for each thread. */
const LARGEST_FILE = '60GB';

/**
 * Returns the statements that connect DuckDB with a lake. Passwords and keys go into secrets of DuckDB: the address of
 * an attached database shows in its errors and lists.
 */
export function attachStatements(place: LakePlace): string[] {
  const settings = ['SET ducklake_max_retry_count = 100', 'SET ducklake_retry_wait_ms = 20'];
  const options = [`DATA_PATH ${literal(dataPath(place))}`, 'DATA_INLINING_ROW_LIMIT 0'];
  if (place.kind === 'folder') {
    const file = literal(`ducklake:${place.folder}/catalogue.ducklake`);
    // A folder may be moved: its files are beside its catalogue wherever that is.
    return [...settings, `ATTACH ${file} AS ${LAKE} (${[...options, 'OVERRIDE_DATA_PATH true'].join(', ')})`];
  }
  const own = [`METADATA_SCHEMA ${literal(catalogueSchema(place))}`, `META_SECRET 'lake_catalogue'`];
  return [
    ...settings,
    `SET s3_uploader_max_filesize = '${LARGEST_FILE}'`,
    filesSecret(place),
    secret('lake_catalogue', 'postgres', databaseSecret(place)),
    `ATTACH ${literal(`ducklake:postgres:${parameters(place)}`)} AS ${LAKE} (${[...options, ...own].join(', ')})`,
  ];
}

/**
 * Returns statements that take the keys of the store away from DuckDB, and give them back. DuckLake deletes the files of
 * a change when its COMMIT fails, also when only the answer of the database was lost, and the change is done: the table
 * would name files that are gone. A COMMIT itself needs the store for nothing else, and what it leaves there is an
 * orphan. Empty for a folder, whose catalogue answers always.
 */
export function keysOf(place: LakePlace): { readonly without: string; readonly withAll: string } | undefined {
  if (place.kind === 'folder') return undefined;
  return { without: filesSecret(place, { KEY_ID: 'none', SECRET: 'none' }), withAll: filesSecret(place) };
}

/** An error of an attached lake as a person can act on it; any other as it is. */
export function attachError(error: unknown, place: LakePlace): unknown {
  const message = error instanceof Error ? error.message : '';
  const where = { file: place.kind === 'folder' ? place.folder : catalogueSchema(place) };
  const said = /catalog version is (?<version>.*?)(?:, but the extension|\n|$)/.exec(message)?.groups?.[
    'version'
  ];
  if (said !== undefined) return otherFormat(said, { where, cause: error });
  if (place.kind === 'database' && /permission denied|must be owner/.test(message))
    return new RunError(
      'database.refused',
      `The user of the database may not make or use the catalogue of the lake, the schema ${catalogueSchema(place)}: ${deniedIn(message)}`,
      {
        hint: `It must own that schema, too: CREATE SCHEMA ${catalogueSchema(place)} AUTHORIZATION …, or GRANT CREATE ON DATABASE … TO ….`,
        cause: error,
      },
    );
  if (message.includes('does not match existing data path'))
    return new RunError(
      'database.otherFiles',
      `The files of the lake are not below ${dataPath(place)}, which this process is given.`,
      {
        where,
        hint: 'Check --s3-bucket and --s3-prefix: they are to be those that the lake was made with.',
        cause: error,
      },
    );
  return error;
}

/** @param said the version that the catalogue says it has */
function otherFormat(said: string, place: Pick<ErrorOptions, 'cause' | 'where'>): RunError {
  const version = /^\d+\.\d[\w.-]*/.exec(said)?.[0];
  if (version === undefined)
    return new RunError(
      'lake.version',
      `The catalogue of the lake says that its format is “${said.slice(0, 40)}”, which is no number of one; this version works with ${FORMAT}.`,
      {
        ...place,
        hint: [
          'It is not changed: another program has written into it, or it is damaged.',
          'Put back the value of “version” in its table ducklake_metadata, or a backup.',
        ],
      },
    );
  return new RunError(
    'lake.version',
    `The catalogue of the lake has the format ${version}; this version works with ${FORMAT}.`,
    {
      ...place,
      hint: [
        'It is not changed: others that use it could not read it any more.',
        version > FORMAT
          ? 'Use a newer version of this program.'
          : 'Bring it up to date with DuckDB itself (ATTACH … (AUTOMATIC_MIGRATION true)) when every program that uses it can read the newer format.',
      ],
    },
  );
}

/** Returns what the database said, without the statement. */
function deniedIn(message: string): string {
  return /(?:permission denied|must be owner)[^\n]*/.exec(message)?.[0] ?? '';
}

function filesSecret(place: LakeOfDatabase, given: Readonly<Record<string, string>> = {}): string {
  return secret('lake_files', 's3', { ...objectsSecret(place), ...given });
}

function secret(name: string, type: string, values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} ${literal(value)}`],
  );
  return `CREATE OR REPLACE SECRET ${name} (${[`TYPE ${type}`, ...given].join(', ')})`;
}

function objectsSecret(place: LakeOfDatabase): Record<string, string | undefined> {
  const { credentials, endpoint, isPathStyle = endpoint !== undefined, region } = place.objects;
  const url = endpoint === undefined ? undefined : new URL(endpoint);
  return {
    KEY_ID: credentials.accessKeyId,
    SECRET: credentials.secretAccessKey,
    SESSION_TOKEN: credentials.sessionToken,
    REGION: region,
    ENDPOINT: url?.host,
    USE_SSL: url === undefined ? undefined : String(url.protocol === 'https:'),
    URL_STYLE: isPathStyle ? 'path' : 'vhost',
    SCOPE: dataPath(place),
  };
}

function databaseSecret({ url }: LakeOfDatabase): Record<string, string | undefined> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  return {
    HOST: text(host.replace(/^\[(.*)\]$/, '$1')),
    PORT: text(searchParams.get('port') ?? port),
    DATABASE: text(decodeURIComponent(pathname.slice(1))),
    USER: text(searchParams.get('user') ?? decodeURIComponent(username)),
    PASSWORD: text(searchParams.get('password') ?? decodeURIComponent(password)),
  };
}

function text(value: string | null): string | undefined {
  return value === null || value === '' ? undefined : value;
}

/** Parameters of an address that are no secrets, as PostgreSQL's own clients know them. */
const PLAIN = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'connect_timeout'];

function parameters({ url }: LakeOfDatabase): string {
  const { searchParams } = new URL(url);
  const given = PLAIN.flatMap((name) => {
    const value = searchParams.get(name);
    return value === null ? [] : [`${name}='${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`];
  });
  return ['application_name=gex', ...given].join(' ');
}
