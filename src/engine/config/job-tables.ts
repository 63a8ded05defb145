import { JobError } from '../../lib/errors.ts';
import type { Job } from '../jobs/index.ts';
import { entriesOf, getKey, isObject, keysOf, toText } from '../../lib/json/index.ts';
import { columnsOf, primaryKeyOf } from '../records/mapping/columns.ts';
import type { Mapping, Mappings } from '../records/mapping/mapping.ts';
import { withChildren } from '../records/mapping/tree.ts';
import { safeName } from '../records/names.ts';
import { fieldNames } from '../records/steps/index.ts';
import { checkKey, keyColumns, type WrittenKey } from '../records/table-key.ts';
import type { EffectiveConfig } from './extractor-config.ts';

/** Settings of jobs for the tables that they write. */
export interface JobTableSettings {
  /** Columns that tell its rows apart; undefined where no job says it. */
  readonly primaryKey: readonly string[] | undefined;
  /** A run gives only what is new, and the key tells what it takes the place of. */
  readonly isMerged: boolean;
}

interface Adding {
  readonly effective: EffectiveConfig;
  /** The configuration does not say whether what is new is added to tables. */
  readonly mayMerge: boolean;
  /** Below a job that gives only what is new. */
  readonly isBelow: boolean;
}

interface JobTable {
  /** Tables of the job: of a mapping, those of its lists, too. */
  readonly names: readonly string[];
  readonly key: WrittenKey | undefined;
  isMerged: boolean;
}

/** The tables of one output bucket, by what the jobs say that write them. */
export class JobTables {
  readonly #tables = new Map<string, JobTable>();

  /** @throws {ExtractorError} for two keys of one table, and for a key that is no column of a mapping */
  add(jobs: readonly Job[], mappings: Mappings, effective: EffectiveConfig): void {
    const mayMerge = getKey(effective.node, 'incrementalOutput') === undefined;
    this.#add(jobs, mappings, { effective, mayMerge, isBelow: false });
  }

  /**
   * @param columns in the order of the header
   * @throws {RecordError} for a key that names no column
   */
  of(table: string, columns: readonly string[]): JobTableSettings {
    const key = this.#tables.get(table)?.key;
    return {
      primaryKey: key === undefined ? undefined : keyColumns(key, table, columns),
      isMerged: this.#ownerOf(table)?.isMerged ?? false,
    };
  }

  #add(jobs: readonly Job[], mappings: Mappings, { effective, mayMerge, isBelow }: Adding): void {
    for (const job of jobs) {
      const { dataType, primaryKey, at, rowSettings, incremental, children } = job;
      const mapping = mappings.get(dataType);
      const table = mapping?.table ?? safeName(dataType);
      // what is below rows that are new is not all there is, either
      const isMerged = mayMerge && (isBelow || (incremental !== undefined && primaryKey !== undefined));
      const key = primaryKey && {
        names: primaryKey,
        fieldName: fieldNameOf(fieldNames(rowSettings, at), mapping),
        at: `${at}.primaryKey`,
      };
      const known = this.#tables.get(table);
      if (
        known?.key !== undefined &&
        key !== undefined &&
        known.key.names.join('\n') !== key.names.join('\n')
      )
        throw new JobError('job.invalid', `The table “${table}” has two primary keys`, {
          where: { path: key.at },
          hint: `The other one is at ${known.key.at}: write the same, or leave one of them out.`,
        });
      if (mapping !== undefined && key !== undefined) checkMapped(key, mapping);
      else if (key !== undefined) checkKey(key, table, otherColumns(job, effective));
      this.#tables.set(table, {
        names: mapping === undefined ? [table] : withChildren(mapping).map((each) => each.table),
        key: known?.key ?? key,
        isMerged: isMerged || known?.isMerged === true,
      });
      this.#add(children, mappings, { effective, mayMerge, isBelow: isMerged });
    }
  }

  /** Returns the job of a table; names of tables of lists begin with the name of the table that contains them. */
  #ownerOf(table: string): JobTable | undefined {
    const own =
      this.#tables.get(table) ?? [...this.#tables.values()].find(({ names }) => names.includes(table));
    if (own !== undefined) return own;
    const above = [...this.#tables.keys()]
      .filter((name) => table.startsWith(`${name}_`))
      .toSorted((a, b) => b.length - a.length);
    return this.#tables.get(above[0] ?? '');
  }
}

/** Returns the columns that do not come from the fields of the same name. */
function otherColumns(
  { rowSettings, userData = {} }: Job,
  { userData: common }: EffectiveConfig,
): ReadonlySet<string> {
  const renamed = getKey(rowSettings, 'rename');
  return new Set([
    ...[userData, common].flatMap((map) => keysOf(map)),
    ...(renamed !== undefined && isObject(renamed) ? entriesOf(renamed).map(([, name]) => toText(name)) : []),
  ]);
}

/** Returns the names of fields in the table: a mapping has its own. */
function fieldNameOf(names: WrittenKey['fieldName'], mapping: Mapping | undefined): WrittenKey['fieldName'] {
  if (mapping === undefined) return names;
  return (path) => {
    const name = names(path);
    const entry = mapping.entries.find((each) => each.kind === 'column' && each.path === name);
    return entry?.kind === 'column' ? entry.column : name;
  };
}

function checkMapped(key: WrittenKey, mapping: Mapping): void {
  const columns = keyColumns(key, mapping.table, columnsOf(mapping));
  const own = primaryKeyOf(mapping);
  if (own.length === 0 || own.join('\n') === columns.join('\n')) return;
  throw new JobError('job.invalid', `The table “${mapping.table}” has two primary keys`, {
    where: { path: key.at },
    hint: `Its mapping says ${own.join(', ')}: leave one of them out.`,
  });
}
