import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveUrl } from '../../engine/http/url.ts';
import { columnPaths } from '../../engine/records/column-paths.ts';
import { parseMappings } from '../../engine/records/mapping/parse.ts';
import { createDialect } from '../../lib/csv/dialect.ts';
import {
  childrenOf,
  digKeys,
  getKey,
  isEmpty,
  isList,
  isObject,
  parseExact,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { columnName } from '../../lib/names.ts';
import { readHeader } from '../../runner/mapping/output/plan/columns.ts';
import type { RowResult } from '../../runner/row-result.ts';
import { readPlace } from '../../service/open/place.ts';

/** Name of a data set or a job, as OpenLineage has it. */
export interface LineageName {
  readonly namespace: string;
  readonly name: string;
}

/** A field of what a job asks for: the path in a row of it. */
export interface InputField extends LineageName {
  readonly field: string;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  /** Fields that its values come from; empty where a run makes them, and where they are not known. */
  readonly from: readonly InputField[];
}

/** A table that a run has written. */
export interface OutputTable extends LineageName {
  /** Empty where they are not known. */
  readonly columns: readonly Column[];
  readonly rows: number;
  /** Size of the file; undefined where it is not here. */
  readonly bytes: number | undefined;
}

/**
 * Returns what the jobs of configurations ask for: the origin of the API, and the path as it is written, with its
 * placeholders and without parameters. An address that a function makes is left out.
 */
export function inputsOf(configurations: readonly AnyObject[]): readonly LineageName[] {
  const inputs = configurations.flatMap(jobInputs).map(({ input }) => input);
  return [...new Map(inputs.map((input) => [keyOf(input), input])).values()];
}

/** Endpoint of one job, and the data type of its rows. */
interface JobInput {
  readonly dataType: string;
  readonly input: LineageName;
}

function jobInputs(configuration: AnyObject): readonly JobInput[] {
  const baseUrl = digKeys(['parameters', 'api', 'baseUrl'], configuration);
  return inputsIn(
    digKeys(['parameters', 'config', 'jobs'], configuration),
    typeof baseUrl === 'string' ? baseUrl : '',
  );
}

function inputsIn(jobs: Json | undefined, baseUrl: string): readonly JobInput[] {
  return (childrenOf(jobs) ?? []).flatMap(([, job]) => {
    if (!isObject(job)) return [];
    const endpoint = getKey(job, 'endpoint');
    const dataType = getKey(job, 'dataType');
    const named = dataType === undefined || isEmpty(dataType) ? endpoint : dataType;
    const input = typeof endpoint === 'string' ? inputOf(baseUrl, endpoint) : undefined;
    const own = input === undefined || named === undefined ? [] : [{ dataType: toText(named), input }];
    return [...own, ...inputsIn(getKey(job, 'children'), baseUrl)];
  });
}

function inputOf(baseUrl: string, endpoint: string): LineageName | undefined {
  try {
    const url = resolveUrl(baseUrl, endpoint);
    const [, written = ''] = /^\w+:\/\/[^/?]*([^?]*)/.exec(url) ?? [];
    const name = written.replaceAll(/%7B/gi, '{').replaceAll(/%7D/gi, '}');
    return { namespace: new URL(url).origin, name: name === '' ? '/' : name };
  } catch {
    return undefined; // the host is a placeholder, or the run fails by it
  }
}

/** Returns how tables in a storage are named: by its address without credentials, and their ids. */
export function namingOf(
  storage: string,
  host: string,
  environment: Readonly<Record<string, string | undefined>>,
): (table: string) => LineageName {
  const place = readPlace({ storage, environment });
  if (place.kind === 'folder')
    return (name) => ({ namespace: `file://${host}${path.resolve(place.dir)}`, name });
  const url = new URL(place.kind === 'service' ? storage : place.url);
  if (place.kind === 'service') {
    const namespace = `${url.origin}${url.pathname}`.replace(/\/$/, '');
    return (name) => ({ namespace, name });
  }
  const namespace = `postgres://${url.hostname || 'localhost'}:${url.port || '5432'}`;
  const database = decodeURIComponent(url.pathname.slice(1));
  return (table) => ({ namespace, name: [database, place.schema ?? [], table].flat().join('.') });
}

export interface OutputOptions {
  readonly host: string;
  /** Names tables of the storage; undefined where tables stay in their files. */
  readonly naming: ((table: string) => LineageName) | undefined;
  /** End of the names of typed files. */
  readonly extension: string;
  /** Configurations by the id of their row. */
  readonly configurations: ReadonlyMap<string | undefined, AnyObject>;
}

/** Returns the tables that rows have pushed or, without a storage, written; one that several have filled is there once. */
export async function outputsOf(
  rows: readonly RowResult[],
  options: OutputOptions,
): Promise<readonly OutputTable[]> {
  const found = new Map<string, OutputTable>();
  for (const result of rows) {
    const sourcesOf = columnSources(result, options.configurations.get(result.id));
    for (const table of result.tables) {
      const output = await outputOf(result, table, options, sourcesOf);
      if (output === undefined) continue;
      const before = found.get(keyOf(output));
      found.set(keyOf(output), before === undefined ? output : together(before, output));
    }
  }
  return [...found.values()];
}

async function outputOf(
  { out, pushed }: RowResult,
  { name, rows }: RowResult['tables'][number],
  { host, naming, extension }: OutputOptions,
  sourcesOf: SourcesOf,
): Promise<OutputTable | undefined> {
  const file = path.resolve(out, 'tables', name);
  const destination = pushed?.tables.find(({ source }) => source === name)?.destination;
  if (naming !== undefined && destination === undefined) return undefined;
  const named = destination === undefined ? undefined : naming?.(destination);
  // A row that had ended on another machine has left no files here.
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  const plain = bytes === undefined ? [] : await columnsOf(file, extension);
  const sources = sourcesOf(name.slice(0, name.length - extension.length));
  const columns = plain.map((column) => ({ ...column, from: sources(column.name) }));
  return {
    ...(named ?? { namespace: `file://${host}`, name: file }),
    columns:
      named === undefined ? columns : columns.map((column) => ({ ...column, name: columnName(column.name) })),
    rows,
    bytes,
  };
}

/** Returns what the columns of a table come from, by the name of its file and theirs. */
type SourcesOf = (table: string) => (column: string) => readonly InputField[];

function columnSources({ state }: RowResult, configuration: AnyObject | undefined): SourcesOf {
  if (configuration === undefined) return () => () => [];
  const mappings = parseMappings(digKeys(['parameters', 'config', 'mappings'], configuration), 'mappings');
  const tables = columnPaths(state, mappings);
  const inputs = Map.groupBy(jobInputs(configuration), ({ dataType }) => dataType);
  return (file) => {
    // the bucket is in front
    const table = [...tables.keys()].find((name) => file === name || file.endsWith(`.${name}`)) ?? '';
    const columns = tables.get(table);
    return (column) => {
      const fields = (columns?.get(column) ?? []).flatMap(({ dataType, path: field }) =>
        (inputs.get(dataType) ?? []).map(({ input }) => ({ ...input, field })),
      );
      return distinct(fields);
    };
  };
}

function distinct(fields: readonly InputField[]): readonly InputField[] {
  return [
    ...new Map(
      fields.map((each) => [JSON.stringify([each.namespace, each.name, each.field]), each]),
    ).values(),
  ];
}

/** Reads the columns of a table: from its manifest where it has types, else from the first line of its CSV file. */
async function columnsOf(file: string, extension: string): Promise<readonly Omit<Column, 'from'>[]> {
  const csv = file.slice(0, file.length - extension.length);
  const manifest = parseExact(await readFile(`${csv}.manifest`, 'utf8'));
  const schema = isObject(manifest) ? getKey(manifest, 'schema') : undefined;
  if (isList(schema))
    return schema.flatMap((column): Omit<Column, 'from'>[] => {
      const name = digKeys(['name'], column);
      const type = digKeys(['metadata', 'KBC.datatype.type'], column);
      return typeof name === 'string' ? [{ name, type: typeof type === 'string' ? type : TEXT }] : [];
    });
  if (extension !== '') return [];
  const names = await readHeader(csv, createDialect({}));
  return 'problem' in names ? [] : names.map((name) => ({ name, type: TEXT }));
}

const TEXT = 'STRING';

function together(one: OutputTable, other: OutputTable): OutputTable {
  const columns = new Map(one.columns.map((column) => [column.name, column]));
  for (const column of other.columns) {
    const known = columns.get(column.name);
    columns.set(
      column.name,
      known === undefined ? column : { ...known, from: distinct([...known.from, ...column.from]) },
    );
  }
  return {
    ...one,
    columns: [...columns.values()],
    rows: one.rows + other.rows,
    bytes: one.bytes === undefined || other.bytes === undefined ? undefined : one.bytes + other.bytes,
  };
}

function keyOf({ namespace, name }: LineageName): string {
  return JSON.stringify([namespace, name]);
}
