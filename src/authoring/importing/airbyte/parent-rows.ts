import type { Authentication } from './draft.ts';
import type { ManifestFindings } from './findings.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { fieldSource } from './scope.ts';
import { MOST_IN_GROUP, type ParentPartition } from './partitions.ts';
import { dataPath, type RecordsDraft } from './records.ts';
import { plainPath } from './incremental.ts';
import { call } from './translate/out.ts';
import { pathText, type Reference, type TranslatedJson } from './translate/position.ts';

export type TranslatedJob = Record<string, TranslatedJson>;

/** A stream as a job; below its parents where it has some. */
export interface JobTree {
  /** Jobs of a row; a child of several parents is below each of them. */
  readonly roots: readonly TranslatedJob[];
  readonly leaf: TranslatedJob;
  /** The same job on the other ways to its slices. */
  readonly others: readonly TranslatedJob[];
  /** All of them have the same address and login. */
  readonly isAlike: boolean;
  readonly slots: ReadonlyMap<string, Reference>;
  readonly records: RecordsDraft;
  readonly baseUrl: TranslatedJson;
  readonly authentication: Authentication | undefined;
  /** A request of it has a list in its query, or in a form. */
  readonly hasLists: boolean;
  readonly isIncremental: boolean;
  readonly primaryKey: readonly string[];
  /** Names of placeholders that are taken. */
  readonly names: readonly string[];
  /** Hosts that get the credentials besides those that the configuration names by itself. */
  readonly trustedHosts: readonly string[];
}

/** Tells if a child needs the rows of a parent one by one: a value in a list has no row. */
export function needsRow({ extraFields, group }: ParentPartition): boolean {
  return extraFields.length > 0 || group !== undefined;
}

/** Makes the rows of a parent start a job: the value that it takes, and which rows have one. */
export function startBelow(
  job: TranslatedJob,
  parent: ParentPartition,
  above: JobTree,
  placeholder: string,
  findings: ManifestFindings,
): void {
  if (!above.isAlike || (above.others.length > 0 && parent.group !== undefined))
    refuseSeveral(parent, findings);
  const keys = parent.parentKey.split('/');
  if (above.records.isChanged(keys[0] ?? ''))
    findings.not(parent.stream.at, 'The field of the parent is changed by Python code');
  if (!isTraced(keys, above.records, 'somewhere'))
    findings.not(parent.stream.at, 'The field of the parent has another name by then');
  const isEach = keys.includes('*');
  if (isEach && parent.group !== undefined)
    findings.not(parent.stream.at, 'No counterpart: items of a list in groups');
  if (isEach)
    findings.columnBelow(
      `a column more for “${parent.name}”, which is an item of a list in the parent row: the value as it is there`,
    );
  const { source, path } = isEach ? { source: dataPath(keys) } : parentValue(keys, above.records);
  const { placeholders } = job;
  job['placeholders'] = {
    ...(isMap(placeholders) ? placeholders : {}),
    // several values at once are found by a path alone
    [placeholder]: parent.group === undefined ? source : (path ?? source),
  };
  const { where } = above.leaf;
  const filters = [
    ...(path === undefined ? [] : [{ value: path, is: 'present' }]),
    ...(where === undefined ? [] : [where]),
  ];
  if (filters.length > 0) job['recursionFilter'] = filters;
  for (const leaf of [above.leaf, ...above.others]) readOnly(leaf);
  if (parent.group !== undefined) job['group'] = { size: parent.group, by: false };
}

function refuseSeveral(parent: ParentPartition, findings: ManifestFindings): void {
  findings.not(parent.stream.at, 'No counterpart: a parent that has several parents itself');
}

/** Puts a job below the rows of another one, on each of the ways to them. */
export function addBelow(above: JobTree, job: TranslatedJob): readonly TranslatedJob[] {
  return [above.leaf, ...above.others].map((leaf, index) => {
    const own = index === 0 ? job : { ...job, id: `${shown(job['id'])}-${index + 1}` };
    const { children } = leaf;
    leaf['children'] = [...(isSequence(children) ? children : []), own];
    return own;
  });
}

/**
 * Puts a parent below all rows of another one: below it, a placeholder has their values.
 *
 * @param join what is between them; false for a list
 */
export function underAll(
  parent: ParentPartition,
  upper: JobTree,
  lower: JobTree,
  join: string | false,
  findings: ManifestFindings,
): { readonly above: JobTree; readonly name: string } {
  const taken = [...upper.names, ...lower.names];
  const name = freeName(`all_${parent.name}`, taken);
  const [root] = lower.roots;
  if (root !== undefined) {
    startBelow(root, { ...parent, group: MOST_IN_GROUP }, upper, name, findings);
    root['group'] = { size: MOST_IN_GROUP, ...(join === ',' ? {} : { join }), by: false };
    const { children } = upper.leaf;
    upper.leaf['children'] = [...(isSequence(children) ? children : []), root];
  }
  if (lower.others.length > 0 || upper.others.length > 0) refuseSeveral(parent, findings);
  return {
    above: {
      ...lower,
      roots: upper.roots,
      hasLists: upper.hasLists || lower.hasLists,
      names: [...taken, name],
      trustedHosts: [...new Set([...upper.trustedHosts, ...lower.trustedHosts])],
    },
    name,
  };
}

/** Joins parents that are the same into one, which starts the children of both; others get an id of their own. */
export function withSharedParents(roots: readonly TranslatedJob[]): readonly TranslatedJob[] {
  const shared: TranslatedJob[] = [];
  for (const root of roots) {
    const alone = (job: TranslatedJob): string => JSON.stringify({ ...job, children: [] });
    const same = shared.find((other) => alone(other) === alone(root));
    const [mine, others] = [root['children'], same?.['children']];
    if (same !== undefined && isSequence(mine) && isSequence(others))
      same['children'] = withSharedParents([...others, ...mine].filter(isJob));
    else shared.push(root);
  }
  // jobs are changed where they stand: they are known as the leaves of a tree, too
  for (const [index, root] of shared.entries())
    if (shared.slice(0, index).some(({ id }) => id === root['id']))
      root['id'] = `${shown(root['id'])}-${index + 1}`;
  return shared;
}

function isJob(node: TranslatedJson): node is TranslatedJob {
  return isMap(node);
}

/**
 * Makes a parent write no table: its rows start its children, and its table belongs to another row of the
 * configuration.
 */
function readOnly(parent: TranslatedJob): void {
  for (const key of ['columns', 'exclude', 'case', 'where']) delete parent[key];
  parent['table'] = false;
}

/**
 * Returns a name for a placeholder: braces and colons have a meaning there, and names of parents are visible below
 * them.
 */
export function freeName(name: string, taken: readonly string[]): string {
  const plain = name.replaceAll(/[{}:]/g, '_');
  if (!taken.includes(plain)) return plain;
  for (let count = 2; ; count++) if (!taken.includes(`${plain}_${count}`)) return `${plain}_${count}`;
}

/** Returns the path of a placeholder's value in the parent row, which may have got it from elsewhere. */
export function parentValue(
  keys: readonly string[],
  records: RecordsDraft,
): { readonly source: TranslatedJson; readonly path?: TranslatedJson } {
  const { out } = records.added.get(keys.join('.')) ?? { out: null };
  const ofRow = mapPaths(out, (field) => (field === WHOLE ? { placeholder: 'value' } : undefined));
  // a row that is no object has no fields: what is made of it gets the row itself
  if (isMap(out) && isMap(ofRow) && JSON.stringify(ofRow) !== JSON.stringify(out))
    return { source: { path: WHOLE, ...ofRow } };
  const { parent, path } = parentSource(keys, records);
  // by a path it would also become a column of the child
  return { source: parent, ...(path === undefined ? {} : { path }) };
}

export function parentSource(
  keys: readonly string[],
  records: RecordsDraft,
): { readonly parent: TranslatedJson; readonly path?: TranslatedJson } {
  const added = records.added.get(keys.join('.'));
  if (added !== undefined) {
    const { out } = added;
    if (isMap(out) && typeof out['path'] === 'string' && Object.keys(out).length === 1)
      return { parent: { parent: out['path'] }, path: out['path'] };
    return { parent: inParent(out) };
  }
  const path = fieldSource(records.names, keys, 'path');
  if (path === undefined) return { parent: { parent: pathText(keys) } };
  return { parent: fieldSource(records.names, keys, 'parent') ?? null, path: plainPath(path) };
}

/** Tells if it is known where the parent row has a field that may have got another name: at one place, or at one of several. */
export function isTraced(
  keys: readonly string[],
  records: RecordsDraft,
  where: 'once' | 'somewhere',
): boolean {
  if (records.added.has(keys.join('.'))) return true;
  const paths = records.names.pathsOf(keys);
  return paths !== undefined && (where === 'somewhere' || paths.length === 1);
}

/** Converts a value of the row to one that a child of it can read. */
function inParent(out: ManifestNode): TranslatedJson {
  return mapPaths(keysInParent(out), (path) => ({ parent: path }));
}

/** Asks for fields of a parent row themselves, where the row is asked for their keys: a child knows no whole row. */
function keysInParent(out: ManifestNode): TranslatedJson {
  if (Array.isArray(out)) return out.map((item: ManifestNode) => keysInParent(item));
  if (!isMap(out)) return out;
  const { function: called, args } = out;
  if (called === 'is' && isSequence(args)) {
    const [row, word, key] = args;
    if (isMap(row) && row['path'] === WHOLE && word === 'contains' && typeof key === 'string')
      return call('is', { path: pathText([key]) }, 'present');
  }
  return Object.fromEntries(Object.entries(out).map(([key, value]) => [key, keysInParent(value)]));
}

/** The path of a row itself. */
const WHOLE = '.';

/** Puts something else in the place of the paths in a value. */
function mapPaths(out: ManifestNode, by: (path: string) => TranslatedJson | undefined): TranslatedJson {
  if (Array.isArray(out)) return out.map((item: ManifestNode) => mapPaths(item, by));
  if (!isMap(out)) return out;
  const { path } = out;
  if (typeof path === 'string' && Object.keys(out).length === 1) return by(path) ?? out;
  return Object.fromEntries(Object.entries(out).map(([key, value]) => [key, mapPaths(value, by)]));
}

/** Returns the columns of a primary key: from a name, a list of names, or a list of paths. */
export function keyColumns(node: ManifestNode | undefined): readonly string[] {
  if (typeof node === 'string') return node === '' ? [] : [node];
  if (!isSequence(node)) return [];
  return node.map((item) => (isSequence(item) ? item.map(shown).join('_') : shown(item)));
}
