import { sameLogin } from './below-parent.ts';
import type { ManifestComponent } from './component.ts';
import { get, isMap, isSequence, shown } from './node.ts';
import {
  freeName,
  isTraced,
  keyColumns,
  needsRow,
  parentSource,
  parentValue,
  startBelow,
  underAll,
  type JobTree,
  type TranslatedJob,
} from './parent-rows.ts';
import { MOST_IN_GROUP, partitionReference, type ListPartition, type ParentPartition } from './partitions.ts';
import { QUERY_PROPERTIES } from './query-properties.ts';
import type { RecordsDraft } from './records.ts';
import type { StreamParts } from './stream-parts.ts';
import { call } from './translate/out.ts';
import type { Reference, TranslatedJson } from './translate/position.ts';

/**
 * Returns the parent whose rows start the stream, and the values of all other parents as lists: they are multiplied
 * with each other.
 */
export function multiply(
  parts: StreamParts,
  parents: readonly ParentPartition[],
  properties: ParentPartition | undefined,
  readParent: (parent: ParentPartition, isOnly: boolean) => JobTree | undefined,
):
  | {
      readonly parent?: ParentPartition;
      readonly above?: JobTree;
      readonly lists: readonly ListPartition[];
    }
  | undefined {
  const { findings } = parts;
  const lists: ListPartition[] = [];
  const ordered = [
    ...(properties === undefined ? [] : [properties]),
    ...parents.toSorted((a, b) => Number(needsRow(a)) - Number(needsRow(b))),
  ];
  let last: { readonly parent: ParentPartition; readonly above: JobTree } | undefined;
  for (const parent of ordered) {
    const tree = readParent(parent, parents.length === 1);
    if (tree === undefined) return undefined;
    if (last === undefined) {
      last = { parent, above: tree };
      continue;
    }
    const isList = last.parent !== properties;
    if (
      (isList && needsRow(last.parent)) ||
      JSON.stringify(tree.baseUrl) !== JSON.stringify(last.above.baseUrl)
    )
      findings.not(parent.stream.at, 'No counterpart: parents at several addresses, or with further fields');
    sameLogin(parts, last.above, tree.authentication);
    const { above, name } = underAll(last.parent, last.above, tree, isList ? false : ',', findings);
    if (!isList) parts.slots.set(QUERY_PROPERTIES, partitionReference(name, MOST_IN_GROUP));
    else {
      const { option, name: field, stream } = last.parent;
      lists.push({
        name: field,
        values: { placeholder: name },
        ...(option === undefined ? {} : { option }),
      });
      findings.note(
        `“${parent.stream.text('name') ?? ''}” is asked for once for each page of “${stream.text('name') ?? ''}”.`,
      );
    }
    last = { parent, above };
  }
  return { ...last, lists };
}

/** Makes what properties stand for known to templates, too. */
export function withProperties(
  parts: StreamParts,
  properties: ParentPartition | undefined,
  above: JobTree | undefined,
): void {
  const reference = parts.slots.get(QUERY_PROPERTIES);
  if (properties === undefined || reference === undefined || above === undefined) return;
  parts.slots.set(`extra_fields.${QUERY_PROPERTIES}`, reference);
  const [root] = above.roots;
  if (!isMap(root?.['pagination']) || root['pagination']['method'] !== 'none')
    parts.findings.not(properties.stream.at, 'No counterpart: properties on several pages');
}

/** Adds the values of the parent row that the child uses. */
export function withParent(
  parts: StreamParts,
  parent: ParentPartition,
  above: JobTree,
  job: TranslatedJob,
  names: string[],
): void {
  const { findings } = parts;
  for (const [name, reference] of above.slots) {
    // windows and other fields of the parent are not of its slice
    if (!isMap(reference.out) || reference.out['placeholder'] === undefined) continue;
    parts.slots.set(`parent_slice.${name}`, reference);
  }
  if (parent.extraFields.some(([name = '']) => above.records.isChanged(name)))
    findings.not(parent.stream.at, 'The field of the parent is changed by Python code');
  if (parent.extraFields.some((keys) => !isTraced(keys, above.records, 'once')))
    findings.not(parent.stream.at, 'The field of the parent has another name by then');
  const placeholder = freeName(parent.name, names);
  names.push(placeholder);
  startBelow(job, parent, above, placeholder, findings);
  parts.slots.set(
    parent.name,
    valueBelow(placeholder, parent, above.records, { job, names, slots: parts.slots }),
  );
  if (parent.group !== undefined && parent.extraFields.length > 0)
    findings.not(parent.stream.at, 'No counterpart: further fields of several parent rows in one request');
  for (const field of parent.extraFields) {
    const type = isBoolean(parent.stream, field) ? 'boolean' : 'any';
    const inField = (keys: readonly (string | number)[]): Reference => {
      const { parent: value } = parentSource([...field, ...keys.map(String)], above.records);
      // a part of a field may be missing without being None
      return keys.length === 0 ? { out: value, type } : { out: call('optional', value) };
    };
    parts.slots.set(`extra_fields.${field.join('.')}`, { ...inField([]), inside: inField });
  }
}

/** Tells if the schema of a stream has true and false in a field. */
function isBoolean(stream: ManifestComponent, [name = '', ...inner]: readonly string[]): boolean {
  const type = get(get(get(get(stream.get('schema_loader'), 'schema'), 'properties'), name), 'type');
  return inner.length === 0 && (isSequence(type) ? type.includes('boolean') : type === 'boolean');
}

/** A job below a parent, with the names of its placeholders and the values that its templates know. */
interface JobBelow {
  readonly job: TranslatedJob;
  readonly names: string[];
  readonly slots: Map<string, Reference>;
}

/** Returns the value of the parent row, whose parts get placeholders of their own in the job below it. */
function valueBelow(
  placeholder: string,
  parent: ParentPartition,
  records: RecordsDraft,
  below: JobBelow,
): Reference {
  const inside = (keys: readonly (string | number)[]): Reference => partBelow(parent, records, below, keys);
  return {
    ...partitionReference(placeholder, parent.group, inside, parent.made),
    ofCopy: (copyOf) =>
      valueBelow(placeholder, parent, records, {
        job: copyOf(below.job),
        names: [...below.names],
        slots: new Map(below.slots),
      }),
  };
}

/** Returns a part of the value of the parent row, which has a placeholder of its own. */
function partBelow(
  parent: ParentPartition,
  records: RecordsDraft,
  { job, names, slots }: JobBelow,
  keys: readonly (string | number)[],
): Reference {
  const name = freeName([parent.name, ...keys].join('_'), names);
  names.push(name);
  const { source } = parentValue([...parent.parentKey.split('/'), ...keys.map(String)], records);
  // an object without the key is asked for, too
  const isField = isMap(source) && source['parent'] !== undefined;
  const value = isField ? call('if', call('is', source, 'present'), source, '') : source;
  job['placeholders'] = { ...(isMap(job['placeholders']) ? job['placeholders'] : {}), [name]: value };
  const part: Reference = { out: { placeholder: name }, mayBeEmpty: true };
  slots.set([parent.name, ...keys].join('.'), part);
  return part;
}

export function withLists(
  parts: StreamParts,
  lists: readonly ListPartition[],
  job: TranslatedJob,
  names: string[],
): void {
  const over: Record<string, TranslatedJson> = {};
  for (const list of lists) {
    const placeholder = freeName(list.name, names);
    names.push(placeholder);
    over[placeholder] = list.values;
    parts.slots.set(list.name, {
      ...partitionReference(placeholder, list.group),
      mayBeEmpty: isSequence(list.values) && list.values.includes(''),
    });
  }
  if (lists.length > 0) job['over'] = over;
}

/** Leaves out the placeholder of an object of which only parts are sent: it is no value that can be. */
export function withoutWhole(parts: StreamParts, job: TranslatedJob, parent: ParentPartition): void {
  const whole = parts.slots.get(parent.name)?.out;
  const hasParts = [...parts.slots.keys()].some((name) => name.startsWith(`${parent.name}.`));
  const { placeholders } = job;
  if (!hasParts || !isMap(whole) || !isMap(placeholders)) return;
  const name = shown(whole['placeholder']);
  const { [name]: _, ...others } = placeholders;
  const sent = JSON.stringify({ ...job, placeholders: others });
  if (sent.includes(JSON.stringify(whole)) || sent.includes(`{${name}}`)) return;
  job['placeholders'] = others;
  parts.slots.delete(parent.name);
}

/** Leaves out a list of one value that no request has. */
export function withoutUnsent(parts: StreamParts, job: TranslatedJob, lists: readonly ListPartition[]): void {
  const { over, ...others } = job;
  if (!isMap(over)) return;
  const sent = JSON.stringify(others);
  const single = lists
    .filter(({ isSingle }) => isSingle === true)
    .map(({ name }) => parts.slots.get(name)?.out);
  const left = Object.entries(over).filter(([placeholder]) => {
    const reference = JSON.stringify({ placeholder });
    const isSent = sent.includes(`{${placeholder}}`) || sent.includes(reference);
    return isSent || !single.some((out) => JSON.stringify(out) === reference);
  });
  if (left.length === Object.keys(over).length) return;
  if (left.length > 0) job['over'] = Object.fromEntries(left);
  else delete job['over'];
}

/** Reports slices that may come several times, and are asked for once in the other tool. */
export function reportDistinct(parts: StreamParts, trees: readonly JobTree[]): void {
  const { findings } = parts;
  if (trees.every(({ roots, leaf }) => roots.length === 1 && roots[0] === leaf) && trees.length === 1) return;
  if (parts.stream.get('primary_key') === undefined)
    findings.not(parts.retriever.place('partition_router'), 'No counterpart: slices that are asked for once');
  else
    findings.rowsTwice(
      'a slice that comes several times is asked for each time; its rows are merged by the primary key',
    );
}

/** Reports where parts that have a state each are read otherwise: those that are new, and those that come twice. */
export function reportNewParts({ findings }: StreamParts, parents: readonly ParentPartition[]): void {
  if (parents.length === 0) return;
  findings.moreRows(
    'A parent row that is new in a later run is read from the start. The other tool begins it at the newest state of all, also every row where there are more than 1,000, and leaves out what is older.',
  );
  if (parents.every(isKey)) return;
  findings.note(
    'A value that several parent rows have is asked for with each of them; the other tool asks for it once.',
  );
}

/** Tells if each row of a parent has a value of its own. */
function isKey({ stream, parentKey }: ParentPartition): boolean {
  const [only, ...others] = keyColumns(stream.get('primary_key'));
  return others.length === 0 && only === parentKey.replaceAll('/', '_');
}
