import path from 'node:path';
import { ConfigError, RecordError } from '../../lib/errors.ts';
import type { EffectiveConfig } from '../config/extractor-config.ts';
import { JobTables } from '../config/job-tables.ts';
import {
  getKey,
  isEmpty,
  isInteger,
  isObject,
  jsonTextOf,
  numberOf,
  type Json,
} from '../../lib/json/index.ts';
import type { Job } from '../jobs/index.ts';
import type { Log } from '../../lib/log.ts';
import { createAutomaticParser } from '../records/automatic.ts';
import { createLegacyParser } from '../records/legacy/parser.ts';
import { LEGACY_STRUCT_VERSION } from '../records/legacy/struct.ts';
import type { Mappings } from '../records/mapping/mapping.ts';
import { checkTypes, missingTables } from '../records/mapping/missing.ts';
import { typesOf } from '../records/mapping/columns.ts';
import { withChildren } from '../records/mapping/tree.ts';
import type { ColumnType } from '../records/types/column-type.ts';
import { parseMappings } from '../records/mapping/parse.ts';
import { createMappedParser } from '../records/mapping/parser.ts';
import type { Exchanges } from '../recording/exchanges.ts';
import { STRUCT_VERSION } from '../records/struct.ts';
import type { RecordParser, TableLayout, TypedColumn } from '../records/parser.ts';
import { manifestColumn } from '../records/types/manifest-column.ts';
import { tableManifest, type ManifestColumn } from '../sink/manifest.ts';
import { writeFileAtomic } from '../sink/atomic.ts';
import type { Publication } from '../sink/publish.ts';
import { csvText } from '../../lib/csv/write.ts';
import type { LineThreads } from '../records/threads/line-threads.ts';
import { OutputBucket } from './table-writer.ts';

export interface BucketsOptions {
  readonly workFolder: string;
  /** The state that the run began with. */
  readonly state: Json | undefined;
  readonly parseTime: (text: string) => number | undefined;
  /** Recorded answers. */
  readonly exchanges: Pick<Exchanges, 'bytes' | 'again'>;
  readonly log: Log;
  readonly threads?: LineThreads | undefined;
}

interface OpenBucket {
  readonly name: string | undefined;
  readonly bucket: OutputBucket;
  readonly isLegacy: boolean;
  /** Mappings of every configuration that wrote here. */
  readonly mappings: Mappings[];
  readonly hasStruct: boolean;
  incremental: boolean;
  /** Settings for the tables from the jobs of all of them. */
  readonly tables: JobTables;
}

/** The types of the columns of a table, for the report. */
export interface TableTypes {
  readonly table: string;
  readonly columns: readonly TypedColumn[];
}

/** A finished run's tables, and what the state keeps of them. */
export interface BucketsResult {
  readonly publications: readonly Publication[];
  readonly structs: readonly Json[];
  readonly structVersion: number;
  /** Tables whose jobs want types. */
  readonly types: readonly TableTypes[];
}

/**
 * The output buckets of a run. Configurations with the same bucket write into the same tables; the parser is the one
 * of the first, `incremental` that of the last.
 */
export class OutputBuckets {
  readonly #options: BucketsOptions;
  readonly #open = new Map<string, OpenBucket>();

  constructor(options: BucketsOptions) {
    this.#options = options;
  }

  /**
   * @param jobs that write to it
   * @throws {ExtractorError} when the mappings or the primary keys are wrong
   */
  of(config: EffectiveConfig, jobs: readonly Job[]): OutputBucket {
    const key = config.outputBucket ?? '';
    const mappings = parseMappings(config.mappings, config.mappingsAt);
    checkTypes(mappings);
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.incremental = config.incrementalOutput;
      known.mappings.push(mappings);
      known.tables.add(jobs, mappings, config);
      return known.bucket;
    }
    const opened = this.#create(config, mappings);
    opened.tables.add(jobs, mappings, config);
    this.#open.set(key, opened);
    return opened.bucket;
  }

  get rows(): number {
    let rows = 0;
    for (const { bucket } of this.#open.values()) rows += bucket.rows;
    return rows;
  }

  /** Ends all tables; header-only files take the place of mapped ones that got nothing. */
  async finish(): Promise<BucketsResult> {
    const publications: Publication[] = [];
    const structs: Json[] = [];
    const types: TableTypes[] = [];
    let structVersion = STRUCT_VERSION;
    for (const open of this.#open.values()) {
      publications.push(...(await this.#publications(open)));
      for (const [table, columns] of open.bucket.types)
        types.push({ table: fileName(open.name, table), columns });
      const struct = open.bucket.struct;
      if (struct === undefined || !open.hasStruct) continue;
      structs.push(struct);
      if (open.isLegacy) structVersion = LEGACY_STRUCT_VERSION;
    }
    return { publications, structs, structVersion, types };
  }

  async abandon(): Promise<void> {
    for (const { bucket } of this.#open.values()) await bucket.abandon();
  }

  async #publications({
    name: bucketName,
    bucket,
    mappings,
    incremental,
    tables,
  }: OpenBucket): Promise<Publication[]> {
    const finished = await bucket.finish();
    for (const { name, nuls } of finished) {
      if (nuls > 0)
        this.#options.log.warn(
          `${nuls === 1 ? '1 NUL character' : `${nuls} NUL characters`} in the table “${name}” became U+FFFD: no database has texts with them`,
        );
    }
    const names = new Set(finished.map(({ name }) => name));
    const { types } = bucket;
    const byHand = typesOf(mappings.flatMap((each) => [...each.values()].flatMap(withChildren)));
    const manifestOf = ({ name, columns, primaryKey }: TableLayout, missing = false): string => {
      const said = tables.of(name, columns);
      const key = said.primaryKey ?? primaryKey;
      if (said.isMerged && !missing && (key ?? []).length === 0)
        this.#options.log.warn(
          `The table “${name}” is added to and has no primary key: rows that come again stand in it twice. ` +
            'Give the child a “primaryKey”, or use a mapping',
        );
      return tableManifest({
        bucket: bucketName,
        table: name,
        incremental: incremental || said.isMerged,
        primaryKey: key,
        schema: schemaOf(types.get(name) ?? namedTypes(byHand.get(name)), columns),
        missing,
      });
    };
    const publications = finished.map((table) => ({
      name: fileName(bucketName, table.name),
      file: table.file,
      rows: table.rows,
      manifest: manifestOf(table),
    }));
    for (const each of mappings) {
      for (const table of missingTables(each, (name) => names.has(name))) {
        const { name, columns } = table;
        names.add(name);
        const file = path.join(
          this.#options.workFolder,
          `missing-${publications.length}-${this.#open.size}.csv`,
        );
        writeFileAtomic(file, csvText([columns]));
        publications.push({
          name: fileName(bucketName, name),
          file,
          rows: 0,
          manifest: manifestOf(table, true),
        });
      }
    }
    return publications;
  }

  #create(config: EffectiveConfig, mappings: Mappings): OpenBucket {
    const { state, exchanges, workFolder, parseTime, threads } = this.#options;
    const folder = path.join(workFolder, `bucket-${this.#open.size}`);
    const { parser, isLegacy } = this.#recordParser(config, state);
    const common = {
      name: config.outputBucket,
      isLegacy,
      mappings: [mappings],
      incremental: config.incrementalOutput,
      tables: new JobTables(),
    };
    if (config.mappings === undefined) {
      const bucket = new OutputBucket({ folder, parser, writesAtOnce: () => false, exchanges, threads });
      return { ...common, bucket, hasStruct: true };
    }
    const mapped = createMappedParser({
      mappings,
      otherwise: parser,
      log: this.#options.log,
      parseTime,
      jsonText: jsonTextOf(config.exactJson),
    });
    const bucket = new OutputBucket({
      folder,
      parser: mapped,
      writesAtOnce: (type) => mapped.writesAtOnce(type),
      exchanges,
    });
    return { ...common, bucket, hasStruct: false };
  }

  /** Creates the parser: the version that wrote the state decides before `compatLevel`. */
  #recordParser(
    { compatLevel, exactJson }: EffectiveConfig,
    state: Json | undefined,
  ): { parser: RecordParser; isLegacy: boolean } {
    const { log } = this.#options;
    const jsonText = jsonTextOf(exactJson);
    const struct = isObject(state) ? getKey(state, 'json_parser.struct') : undefined;
    const version = isObject(state) ? getKey(state, 'json_parser.structVersion') : undefined;
    if (struct === undefined || isEmpty(struct) || isEmpty(version)) {
      if (compatLevel === 1) return { parser: createLegacyParser({ log, jsonText }), isLegacy: true };
      return { parser: createAutomaticParser({ log, jsonText }), isLegacy: false };
    }
    if (isInteger(version) && numberOf(version) === LEGACY_STRUCT_VERSION) {
      if (compatLevel !== 1)
        log.warn(
          'The state was written by the legacy parser, which is used again; --reset-state starts over',
        );
      return { parser: createLegacyParser({ struct, log, jsonText }), isLegacy: true };
    }
    if (compatLevel === 1)
      log.warn('The state was written by the present parser, which is used in spite of compatLevel 1');
    try {
      return { parser: createAutomaticParser({ struct, log, jsonText }), isLegacy: false };
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      log.warn(`${error.message}; it is ignored`);
      return { parser: createAutomaticParser({ log, jsonText }), isLegacy: false };
    }
  }
}

function fileName(bucket: string | undefined, table: string): string {
  return checkedName(bucket === undefined ? table : `${bucket}.${table}`);
}

function namedTypes(
  types: ReadonlyMap<string, ColumnType> | undefined,
): readonly Pick<TypedColumn, 'name' | 'type'>[] | undefined {
  return types && Array.from(types, ([name, type]) => ({ name, type }));
}

/** Returns the columns with their types, in the order of the header. */
function schemaOf(
  types: readonly Pick<TypedColumn, 'name' | 'type'>[] | undefined,
  columns: readonly string[],
): ManifestColumn[] | undefined {
  if (types === undefined) return undefined;
  const byName = new Map(types.map(({ name, type }) => [name, type]));
  return columns.map((name) => manifestColumn(name, byName.get(name) ?? 'text'));
}

/** Checks the name of a table: it is a file, and must stay inside the folder. */
function checkedName(name: string): string {
  if (!/[/\\\0]/.test(name) && name !== '.' && name !== '..') return name;
  throw new ConfigError('config.invalid', `The table “${name}” cannot be a file: its name has a slash`, {
    hint: 'Give the mapping, the bucket or the job another name.',
  });
}
