import { SourceFindings, Untaken } from './findings.ts';
import type { AddedStep, SourceUses } from './python/source-uses.ts';
import { fieldsOf } from './templates.ts';
import { PythonCall, Code, isList, shownValue, ValueMap, type Value } from './value.ts';

/** A resource with what the defaults give it. */
export interface Resource {
  readonly name: string;
  /** Its place: `resources[2]`. */
  readonly at: string;
  readonly map: ValueMap;
  readonly endpoint: ValueMap;
  readonly path: string;
  readonly params: ValueMap;
  /** True where it has no parameters of its own beside those of the defaults. */
  readonly sharesParams: boolean;
  /** The resource whose rows give values to its requests. */
  readonly parent: string | undefined;
  /** Steps that code gives it besides its own. */
  readonly addedSteps: readonly AddedStep[];
  readonly findings: SourceFindings;
}

/** Something in the list that is no dictionary: what it gives can't be known. */
export interface StrangeResource {
  readonly name: string;
  readonly at: string;
  readonly value: Value;
}

/**
 * Returns the resources of a source, defaults merged in (only `params`, `json` and `columns` are merged key by key).
 *
 * @param uses what code does with the source
 */
export function readResources(
  source: ValueMap,
  uses: SourceUses,
): {
  readonly resources: readonly Resource[];
  readonly strange: readonly StrangeResource[];
} {
  const list = source.get('resources');
  const given = source.get('resource_defaults');
  const defaults = given instanceof ValueMap ? given : new ValueMap([]);
  const resources: Resource[] = [];
  const strange: StrangeResource[] = [];
  const known = new Set((isList(list) ? list : []).flatMap((item) => nameIn(item) ?? []));
  for (const [i, item] of (isList(list) ? list : [list ?? null]).entries()) {
    const at = `resources[${i}]`;
    const own = typeof item === 'string' ? new ValueMap([['name', item]]) : item;
    const name = nameIn(item);
    if (!(own instanceof ValueMap) || name === undefined) {
      strange.push({ name: nameOf(item) ?? at, at, value: item });
      continue;
    }
    if (resources.some((other) => other.name === name)) {
      strange.push({ name, at, value: 'a resource of this name is there already' });
      continue;
    }
    const steps = uses.changes.flatMap(({ names, step }) =>
      step !== undefined && isOnly(name, names, known) ? [step] : [],
    );
    const resource = merged(
      { name, at, addedSteps: steps },
      withUses(own, name, uses),
      new ValueMap([...uses.defaults.entries, ...defaults.entries], defaults.open),
    );
    for (const { names, text, line, step } of uses.changes)
      if (step !== undefined && isOnly(name, names, known)) continue;
      else if (names.includes(name) || !names.some((each) => known.has(each)))
        resource.findings.not(
          `line ${line}`,
          'Code changes its rows, or how they are written',
          new Code(text, line),
        );
    if (given !== undefined && given !== null && !(given instanceof ValueMap))
      resource.findings.not('resource_defaults', 'Defaults that code makes', given);
    resources.push(resource);
  }
  tellShared(resources);
  tellSameTable(resources);
  return { resources, strange };
}

/** Reports parameters of a state that the library puts into the parameters of the defaults, which several resources share. */
function tellShared(resources: readonly Resource[]): void {
  const shared = resources.filter(({ sharesParams, parent }) => sharesParams && parent === undefined);
  for (const { name, endpoint } of shared) {
    const incremental = endpoint.get('incremental');
    if (!(incremental instanceof ValueMap)) continue;
    const sent = ['start_param', 'end_param'].flatMap((key) => incremental.get(key) ?? []);
    for (const other of shared)
      if (other.name !== name && sent.length > 0)
        other.findings.otherRows(
          `There, ${sent.map((param) => `“${typeof param === 'string' ? param : shownValue(param)}”`).join(' and ')} of “${name}” is sent with it, too, as both have the parameters of “resource_defaults” and none of their own; here it is not.`,
        );
  }
}

/** Reports resources whose names are two here, and one in the snake case in which the library writes names of tables. */
function tellSameTable(resources: readonly Resource[]): void {
  const tableOf = ({ map, name }: Resource): string => {
    const table = map.get('table_name');
    return typeof table === 'string' ? table : name;
  };
  for (const resource of resources) {
    const table = tableOf(resource);
    for (const other of resources)
      if (tableOf(other) !== table && snake(tableOf(other)) === snake(table))
        resource.findings.column(
          `its rows are in one table with those of “${other.name}” there, “${snake(table)}”`,
        );
  }
}

function snake(name: string): string {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .replaceAll(/[^\p{L}\d]+/gu, '_')
    .toLowerCase();
}

/** Returns the name of a resource that is written out. */
function nameIn(item: Value): string | undefined {
  const name = item instanceof ValueMap ? item.get('name') : item;
  return typeof name === 'string' ? name : undefined;
}

/** Puts what code says of all resources in place of what a resource says of itself. */
function withUses(own: ValueMap, name: string, { overrides, selected }: SourceUses): ValueMap {
  const isLeftOut = selected !== undefined && !selected.includes(name);
  return new ValueMap(
    [...own.entries, ...overrides.entries, ...(isLeftOut ? [['selected', false] as const] : [])],
    own.open,
  );
}

/** Returns the name of a resource that is a function: it is in the code. */
function nameOf(item: Value): string | undefined {
  if (item instanceof PythonCall) return item.name;
  if (item instanceof Code) return item.text;
  if (item instanceof ValueMap) return shownValue(item.get('name') ?? null);
  return undefined;
}

/** Tells whether a resource is the only one whose name is among others. */
function isOnly(name: string, names: readonly string[], known: ReadonlySet<string>): boolean {
  return names.includes(name) && names.every((each) => each === name || !known.has(each));
}

function merged(
  { name, at, addedSteps }: Pick<Resource, 'name' | 'at' | 'addedSteps'>,
  own: ValueMap,
  defaults: ValueMap,
): Resource {
  const findings = new SourceFindings();
  const usual = endpointOf(defaults, findings, 'resource_defaults');
  const ownEndpoint = endpointOf(own, findings, at);
  const both = (key: string): readonly (readonly [string, Value])[] => {
    const [first, second] = [usual.get(key), ownEndpoint.get(key)];
    if (first instanceof ValueMap && second instanceof ValueMap)
      return [[key, new ValueMap([...first.entries, ...second.entries], [...first.open, ...second.open])]];
    const found = second ?? first;
    return found === undefined ? [] : [[key, found]];
  };
  const endpoint = new ValueMap(
    [...usual.entries, ...ownEndpoint.entries, ...both('params'), ...both('json')],
    [...usual.open, ...ownEndpoint.open],
  );
  const map = new ValueMap(
    [...defaults.entries, ...own.entries, ...columnsOfBoth(defaults.get('columns'), own.get('columns'))],
    [...defaults.open, ...own.open],
  );
  for (const code of [...map.open, ...endpoint.open]) findings.not(at, 'Keys that code makes', code);
  const path = endpoint.get('path') ?? name;
  const params = endpoint.get('params');
  if (typeof path !== 'string')
    findings.not(`${at}.endpoint.path`, 'No counterpart: a path that code makes', path);
  if (params !== undefined && params !== null && !(params instanceof ValueMap))
    findings.not(`${at}.endpoint.params`, 'No counterpart: parameters that code makes', params);
  const known = {
    name,
    at,
    addedSteps,
    map,
    endpoint,
    path: typeof path === 'string' ? path : name,
    params: params instanceof ValueMap ? params : new ValueMap([]),
    sharesParams: usual.get('params') instanceof ValueMap && ownEndpoint.get('params') === undefined,
    findings,
  };
  return { ...known, parent: findings.attempt(`${at}.endpoint`, () => parentOf(known)) };
}

/** Returns the hints of columns that the defaults and a resource have, those of a column joined. */
function columnsOfBoth(usual: Value | undefined, own: Value | undefined): readonly [string, Value][] {
  const [first, second] = [columnHints(usual), columnHints(own)];
  if (first.length === 0 || second.length === 0) return [];
  const all = new Map(first);
  for (const [name, hints] of second)
    all.set(name, new ValueMap([...(all.get(name)?.entries ?? []), ...hints.entries]));
  return [['columns', new ValueMap(all)]];
}

/** Returns the hints of columns by their names: of a dictionary, or a list of dictionaries with a `name`. */
export function columnHints(columns: Value | undefined): readonly (readonly [string, ValueMap])[] {
  const all: readonly (readonly [Value | undefined, Value])[] =
    columns instanceof ValueMap
      ? [...columns.entries]
      : isList(columns)
        ? columns.map((each) => [each instanceof ValueMap ? each.get('name') : undefined, each])
        : [];
  return all.flatMap(([name, hints]) =>
    typeof name === 'string' && hints instanceof ValueMap ? [[name, hints] as const] : [],
  );
}

function endpointOf(map: ValueMap, findings: SourceFindings, at: string): ValueMap {
  const endpoint = map.get('endpoint');
  if (endpoint instanceof ValueMap) return endpoint;
  if (typeof endpoint === 'string') return new ValueMap([['path', endpoint]]);
  if (endpoint !== undefined && endpoint !== null)
    findings.not(`${at}.endpoint`, 'No counterpart: an endpoint that code makes', endpoint);
  return new ValueMap([]);
}

/** A parameter that takes its value from a row of another resource. */
export interface ResolveParam {
  readonly resource: string;
  readonly field: string;
}

export function resolveParam(value: Value | undefined): ResolveParam | undefined {
  if (!(value instanceof ValueMap) || value.get('type') !== 'resolve') return undefined;
  const [resource, field] = [value.get('resource'), value.get('field')];
  if (typeof resource !== 'string' || typeof field !== 'string')
    throw new Untaken('a parameter of a parent that code makes', value);
  return { resource, field };
}

/** Splits `resources.issues.number`; undefined for another field. */
export function resourceField(field: string): ResolveParam | undefined {
  const [, resource, path] = /^resources\.([^.]+)\.(.+)$/.exec(field) ?? [];
  return resource === undefined || path === undefined ? undefined : { resource, field: path };
}

function parentOf({
  endpoint,
  path,
  params,
}: Pick<Resource, 'endpoint' | 'params' | 'path'>): string | undefined {
  const fields = [path, params, ...['json', 'data', 'headers'].map((key) => endpoint.get(key))].flatMap(
    (value) => fieldsOf(value),
  );
  const named = [
    ...[...params.entries.values()].flatMap((value) => resolveParam(value)?.resource ?? []),
    ...fields.flatMap((field) => resourceField(field)?.resource ?? []),
  ];
  const parents = [...new Set(named)];
  if (parents.length > 1) throw new Untaken(`several parents: ${parents.join(', ')}`);
  return parents[0];
}
