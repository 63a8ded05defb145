import type { SourceFindings } from './findings.ts';
import { columnHints, type Resource } from './resources.ts';
import { Code, isList, type TranslatedValue, shownValue, type Value, ValueMap } from './value.ts';

/** Keys of a resource that say something of its table alone. */
const HARMLESS = new Set([
  'name',
  'endpoint',
  'processing_steps',
  'include_from_parent',
  'table_name',
  'parallelized',
  'section',
  'table_format',
  'file_format',
  'references',
  'nested_hints',
  'description',
]);

/** Reads the hints of a resource, which are not about its requests. */
export function readHints(resource: Resource): void {
  const { map, findings, at } = resource;
  disposition(resource);
  for (const [key, value] of map.entries) {
    if (HARMLESS.has(key) || key === 'write_disposition' || value === null) continue;
    if (key === 'primary_key') primaryKey(value, resource);
    else if (key === 'merge_key') mergeKey(value, resource);
    else if (key === 'columns') columns(value, resource);
    else if (key === 'schema_contract') contract(value, findings);
    else if (key === 'refresh')
      findings.otherRows(
        `The run there begins anew each time (“refresh”: ${shownValue(value)}); here the state and the table go on.`,
      );
    else if (key === 'max_table_nesting')
      findings.column(
        'objects and lists below the level of “max_table_nesting” are JSON there; here they are columns, and tables of their own',
      );
    else if (key === 'selected') {
      if (value === false) findings.note('It is not selected, so that it makes no table.');
      else if (value !== true) findings.not(`${at}.selected`, 'A choice that code makes', value);
    } else findings.not(`${at}.${key}`, `No counterpart: “${key}”`, value);
  }
}

/** Tells whether every run adds its rows to the table: the library does, unless the source says otherwise. */
export function addsRows(resource: Resource): boolean {
  return dispositionOf(resource) !== 'replace';
}

/** Returns the primary key of a table whose rows are merged by it. */
export function keyOf(resource: Resource): { readonly primaryKey?: TranslatedValue } {
  const names = mergeKeyOf(resource);
  if (names === undefined) return {};
  const [only, second] = names;
  return { primaryKey: only !== undefined && second === undefined ? only : names };
}

/** Returns the paths by which the rows of a table are merged; undefined where they are not. */
export function mergeKeyOf(resource: Resource): readonly string[] | undefined {
  if (dispositionOf(resource) !== 'merge') return undefined;
  return keyNames(resource.map.get('primary_key') ?? hinted(resource, 'primary_key'));
}

/** Tells whether a resource has a primary key, merged by it or not. */
export function hasPrimaryKey(resource: Resource): boolean {
  const given = resource.map.get('primary_key') ?? hinted(resource, 'primary_key');
  return given !== undefined && !(isList(given) && given.length === 0);
}

/** Returns the write disposition of a resource; undefined where it has none. */
function dispositionOf({ map }: Resource): Value | undefined {
  const given = map.get('write_disposition');
  return (given instanceof ValueMap ? given.get('disposition') : given) ?? undefined;
}

/** Returns columns with __ between the levels, as paths; undefined if there are none, or code determines them. */
function keyNames(value: Value | undefined): readonly string[] | undefined {
  const items = value !== undefined && isList(value) ? value : [value];
  const names = items.flatMap((item) => (typeof item === 'string' && item !== '' ? [item] : []));
  const isRead = items.length > 0 && names.length === items.length;
  return isRead ? names.map((name) => name.replaceAll(/(?<=[^_])__(?=[^_])/g, '.')) : undefined;
}

/** Returns the columns with a hint; undefined where there are none. */
function hinted(resource: Resource, hint: string): readonly string[] | undefined {
  const names = columnHints(resource.map.get('columns')).flatMap(([name, hints]) =>
    hints.get(hint) === true ? [name] : [],
  );
  return names.length === 0 ? undefined : names;
}

/**
 * Reports a primary key that code makes, and one by which rows are not merged: in the source it is only a hint, and
 * rows stay.
 */
function primaryKey(value: Value, resource: Resource): void {
  const { findings, at } = resource;
  const isMerged = dispositionOf(resource) === 'merge';
  if (isMerged && keyNames(value) === undefined)
    findings.not(`${at}.primary_key`, 'A primary key that code makes; write “primaryKey” of the job', value);
  if (isMerged) return;
  findings.note(
    `The primary key is ${shownValue(value)}, and rows are not merged by it there. To have that, write it as “primaryKey” of the job.`,
  );
}

/** Reports a key by which rows of the table are removed when others with the same value come. */
function mergeKey(value: Value, resource: Resource): void {
  if (dispositionOf(resource) !== 'merge') return;
  const [key, primary] = [keyNames(value), mergeKeyOf(resource)];
  if (key !== undefined && JSON.stringify(key) === JSON.stringify(primary)) return;
  resource.findings.otherRows(
    `There, rows of the table with a value of “${shownValue(value)}” that comes again are removed; here they stay${primary === undefined ? '' : ', unless they have the same primary key'}.`,
  );
}

/** Hints of columns that choose rows of the table. */
const CHOOSING = ['merge_key', 'hard_delete', 'dedup_sort'];

function columns(value: Value, resource: Resource): void {
  const { findings } = resource;
  if (!(value instanceof ValueMap) && !isList(value)) {
    findings.otherRows(
      `Columns that code makes: ${shownValue(value)}. Where they refuse values, rows are changed, left out or an error there; here they are written.`,
    );
    return;
  }
  const hints = columnHints(value);
  if (hints.some(([, each]) => each.get('data_type') !== undefined))
    findings.column('types are those of the values, and not those that the source names');
  for (const [name, each] of hints)
    for (const key of CHOOSING)
      if ((each.get(key) ?? false) !== false && dispositionOf(resource) === 'merge')
        findings.otherRows(`“${key}” of the column “${name}” chooses rows of the table there, and not here.`);
}

function contract(value: Value, findings: SourceFindings): void {
  const modes = value instanceof ValueMap ? [...value.entries.values()] : [value];
  if (modes.every((mode) => mode === 'evolve')) return;
  findings.otherRows(
    `The contract ${shownValue(value)} leaves out rows or values that are new, or refuses them, there; here they are written.`,
  );
}

function disposition(resource: Resource): void {
  const { findings, map, at } = resource;
  const value = map.get('write_disposition') ?? undefined;
  const word = dispositionOf(resource);
  if (value instanceof Code) {
    findings.otherRows(
      `How the table is written is decided by code: ${value.text}. Here rows are added to it.`,
    );
    return;
  }
  if (word === undefined) {
    findings.note(
      'No write_disposition is named: every run adds its rows to the table, there and here. For a table that each run replaces, take “incrementalOutput” out of the row.',
    );
    return;
  }
  if (word !== 'append' && word !== 'replace' && word !== 'merge') {
    findings.not(`${at}.write_disposition`, 'No counterpart: a way to write the table', value);
    return;
  }
  if (word !== 'merge') return;
  const strategy = value instanceof ValueMap ? (value.get('strategy') ?? 'delete-insert') : 'delete-insert';
  if (strategy === 'scd2')
    findings.otherRows(
      'Old rows are kept there with the time in which they were valid; here the new one takes their place, or is added where there is no primary key.',
    );
  else if (strategy === 'insert-only')
    findings.otherRows('A row that is in the table stays as it is there; here the new one takes its place.');
  else if (strategy !== 'delete-insert' && strategy !== 'upsert')
    findings.not(`${at}.write_disposition`, 'No counterpart: a way to merge rows', value);
  else if (mergeKeyOf(resource) !== undefined)
    findings.moreRows(
      'Where rows have lists: a row that comes again takes the place of the old one, and the rows of its lists are added to their table; there they take the place of the old ones, too. Without lists, and where no key comes twice in a run, the table is the same.',
    );
  else if ((map.get('primary_key') ?? null) === null)
    findings.note('Rows are to be merged there, and no primary key is given: they are added.');
}
