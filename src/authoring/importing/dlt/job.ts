import { Untaken } from './findings.ts';
import { mergeKeyOf } from './hints.ts';
import { isIncrementalParam, readIncremental, type ResourceIncremental } from './incremental.ts';
import { plainText, textOut } from './out.ts';
import { readPaginator, type ResourcePagination } from './pagination.ts';
import { mayHaveLists, pathOf } from './paths.ts';
import { readResponseActions } from './reactions.ts';
import { resolveParam, resourceField, type Resource } from './resources.ts';
import { columnsOfShape, isKept, type RowShape } from './python/row-shape.ts';
import { shapeOf } from './steps.ts';
import type { SourceSettings } from './dlt-settings.ts';
import { deepFilled, filledMap, partsOf, refuseOpen, type Resolve } from './templates.ts';
import { call, Code, isList, type TranslatedValue, type Value, ValueMap } from './value.ts';
import { trimBoth } from '../../../lib/trim.ts';

export type ResourceJob = Record<string, TranslatedValue>;

export interface JobContext {
  readonly settings: SourceSettings;
  /** `client.paginator`, for resources that name none. */
  readonly paginator: Value | undefined;
  /** The job above. */
  readonly above: Pick<ResourceDraft, 'names' | 'parentColumns' | 'included' | 'shape' | 'where'> | undefined;
}

export interface ResourceDraft {
  readonly job: ResourceJob;
  /** Names of placeholders, of the jobs above, too. */
  readonly names: readonly string[];
  /** Columns that values of parent rows make, of those above, too. */
  readonly parentColumns: readonly string[];
  /** Placeholders of the fields that it includes from its parent, by their names in its rows; undefined where it has none. */
  readonly included: ReadonlyMap<string, string | undefined>;
  /** Its rows as steps make them. */
  readonly shape: RowShape;
  /** Conditions of its rows: others start no request below it. */
  readonly where: readonly TranslatedValue[];
}

/** Converts a resource to a job. Parts that cannot be converted are among the findings of the resource. */
export function jobOf(resource: Resource, { settings, paginator, above }: JobContext): ResourceDraft {
  const { at, findings, endpoint, params } = resource;
  const where = (key: string): string => `${at}.endpoint.${key}`;
  const placeholders = new Placeholders(above, includedFields(resource));
  const incremental = findings.attempt(where('incremental'), () => readIncremental(resource, settings));
  const resolve = resolver(incremental, placeholders);
  const shape = shapeOf(resource);
  if (incremental !== undefined && !isKept(shape, incremental.cursor))
    findings.not(
      `${at}.processing_steps`,
      `No counterpart: a step that changes “${incremental.cursor}”, the cursor`,
    );
  if (incremental?.incremental !== undefined && shape.where.length > 0)
    findings.otherRows(
      'A row that a step leaves out moves the state here, and not there: rows that come later and are older than it are read there, and not here.',
    );
  const rows = [...shape.where, ...(incremental?.where ?? [])];
  const shaped = columnsOfShape(shape);
  for (const note of incremental?.notes ?? []) findings.note(note);
  for (const text of incremental?.other ?? []) findings.otherRows(text);
  for (const text of incremental?.again ?? [])
    if (mergeKeyOf(resource) === undefined) findings.moreRows(text);
    else findings.note(text);
  if (resource.parent !== undefined && incremental?.incremental !== undefined)
    findings.moreRows(
      'There, the rows below each page of parent rows are asked for, and compared, from the newest value that came so far, so that older ones of later parents are left out. Here all begin where the last run ended.',
    );
  const isEntity = isSingleEntity(resource.path);
  const inPath = new Set<string>();
  const address = findings.attempt(where('path'), () =>
    addressOf(resource, settings, placeholders, resolve, inPath),
  );
  const query = findings.attempt(where('params'), () => queryOf(params, inPath, resolve, settings)) ?? {};
  const method = methodOf(resource);
  const isGet = method === 'GET';
  const body = findings.attempt(where('json'), () => bodyOf(resource, resolve, settings)) ?? {};
  const headers =
    findings.attempt(where('headers'), () => filledMap(endpoint.get('headers'), resolve, settings)) ?? {};
  const own = endpoint.get('paginator');
  const paginatorValue = isGiven(own) ? own : isEntity ? 'single_page' : paginator;
  const paging = findings.attempt(isGiven(own) ? where('paginator') : 'client.paginator', () =>
    readPaginator(paginatorValue, { findings, isGet }),
  );
  if (paging?.followsAddress === true && 'body' in body)
    findings.not(
      where('paginator'),
      'No counterpart: a body that is sent again to the address of the next page',
    );
  const reactions =
    findings.attempt(where('response_actions'), () =>
      readResponseActions(endpoint.get('response_actions')),
    ) ?? [];
  const sent = withoutSize({ ...query, ...incremental?.params }, paging?.pagination);
  const dataField = findings.attempt(where('data_selector'), () => dataFieldOf(resource, isEntity));
  const columns = {
    ...shaped.columns,
    ...findings.attempt(`${at}.include_from_parent`, () => columnsOf(resource, above, shape)),
  };
  const job: ResourceJob = {
    // the state has its name
    ...(incremental?.incremental === undefined ? {} : { id: resource.name }),
    endpoint: address ?? resource.path,
    ...(isGet ? {} : { method }),
    ...sentIn(sent, isGet, body),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...body,
    ...placeholders.entries(),
    dataType: tableOf(resource),
    ...(dataField === undefined ? {} : { dataField }),
    pagination: paging?.pagination ?? { method: 'none' },
    ...(incremental?.incremental === undefined
      ? {}
      : {
          incremental: {
            ...incremental.incremental,
            ...(resource.parent === undefined ? {} : { perParent: false }),
          },
        }),
    ...untold(incremental, paging),
    ...(rows.length === 0 ? {} : { where: rows }),
    ...(above === undefined || above.where.length === 0 ? {} : { recursionFilter: above.where }),
    ...(Object.keys(columns).length === 0 ? {} : { columns }),
    ...(shaped.exclude.length === 0 ? {} : { exclude: shaped.exclude }),
    ...(reactions.length === 0 ? {} : { reactions }),
  };
  const parentColumns = [...(above?.parentColumns ?? []), ...placeholders.columns()];
  for (const column of parentColumns) findings.column(`one more, “${column}”: a value of a parent row`);
  const included = new Map(
    includedFields(resource).map((field) => [`_${resource.parent}_${field}`, placeholders.known(field)]),
  );
  return { job, names: placeholders.names, parentColumns, included, shape, where: rows };
}

/**
 * Takes the total that the pagination looks at for no sign that rows are missing: the state moves there whatever it says
 * at the end, and held back here, the next run would read the same rows again.
 */
function untold(
  incremental: ResourceIncremental | undefined,
  paging: ResourcePagination | undefined,
): ResourceJob {
  const notSigns = paging?.signs ?? [];
  return incremental?.incremental === undefined || notSigns.length === 0
    ? {}
    : { completeness: { notSigns } };
}

/** Parameters go into the query, whatever the method is. Without a body a POST of ours would send an empty list. */
function sentIn(sent: Record<string, TranslatedValue>, isGet: boolean, body: ResourceJob): ResourceJob {
  const isBare = !isGet && Object.keys(body).length === 0;
  if (isBare) return { params: sent, paramsIn: 'query' };
  return Object.keys(sent).length === 0 ? {} : { [isGet ? 'params' : 'query']: sent };
}

/** Leaves out a page size of the parameters: that of the paginator takes its place, and here it would be the other way round. */
function withoutSize(
  sent: Record<string, TranslatedValue>,
  pagination: ResourceJob | undefined,
): Record<string, TranslatedValue> {
  const place = pagination?.['limitParam'];
  const name =
    typeof place === 'object' && place !== null && 'query' in place ? place['query'] : (place ?? undefined);
  return Object.fromEntries(Object.entries(sent).filter(([key]) => key !== name));
}

/** Values of the parent row that requests have. */
class Placeholders {
  readonly #taken: readonly string[];
  /** Placeholders of the job above for what its rows include from their own parents. */
  readonly #included: ResourceDraft['included'];
  readonly #above: JobContext['above'];
  readonly #handedOn: readonly string[];
  readonly #fields = new Map<string, string>();
  readonly #computed = new Map<string, TranslatedValue>();

  /** @param handedOn fields that are included in the rows: resources below may ask with them, too */
  constructor(above: JobContext['above'], handedOn: readonly string[]) {
    this.#above = above;
    this.#taken = above?.names ?? [];
    this.#included = above?.included ?? new Map();
    this.#handedOn = handedOn;
  }

  get names(): readonly string[] {
    return [...this.#taken, ...this.#fields.values(), ...this.#computed.keys()];
  }

  /** Refuses a field that the steps of the parent change. */
  refuseChanged(field: string): void {
    if (!this.#included.has(field)) refuseChanged(field, this.#above);
  }

  /** Tells whether a field is a placeholder: an id, and what is known by a name anyway. Other fields may be of any kind. */
  isAsked(field: string): boolean {
    return IDENTIFIER.test(field) || this.#handedOn.includes(field) || this.#isKnown(field);
  }

  #isKnown(field: string): boolean {
    return this.#fields.has(field) || this.#included.has(field);
  }

  /** Returns the name of the placeholder for a field of the parent row. */
  nameOf(field: string): string {
    const known = this.known(field);
    if (known !== undefined) return known;
    if (this.#included.has(field))
      throw new Untaken(`“${field}”, which the parent includes from its own parent and does not ask with`);
    const path = pathOf(field, 'a field of the parent');
    const name = this.#free(trimBoth(path.replaceAll(/\W+/g, '_'), '_') || 'value');
    this.#fields.set(field, name);
    return name;
  }

  /** Returns the name of the placeholder for a field that is used before, or in the job above; undefined for another one. */
  known(field: string): string | undefined {
    return this.#fields.get(field) ?? this.#included.get(field);
  }

  /** Returns the name of a placeholder for a setting or a state. */
  computed(value: TranslatedValue): string {
    const text = JSON.stringify(value);
    for (const [known, other] of this.#computed) if (JSON.stringify(other) === text) return known;
    const name = this.#free('value');
    this.#computed.set(name, value);
    return name;
  }

  #free(plain: string): string {
    if (!this.names.includes(plain)) return plain;
    for (let count = 2; ; count++) if (!this.names.includes(`${plain}_${count}`)) return `${plain}_${count}`;
  }

  entries(): ResourceJob {
    if (this.#fields.size + this.#computed.size === 0) return {};
    const fields = [...this.#fields].map(
      ([field, name]) => [name, pathOf(field, 'a field of the parent')] as const,
    );
    return { placeholders: Object.fromEntries<TranslatedValue>([...fields, ...this.#computed]) };
  }

  columns(): readonly string[] {
    return [...this.#fields.keys()].map((field) => `parent_${pathOf(field, field).replaceAll('.', '_')}`);
  }
}

/** Resolves the fields of a request. */
function resolver(incremental: ResourceIncremental | undefined, placeholders: Placeholders): Resolve {
  return (field, keepsKind) => {
    const found = resourceField(field);
    if (found !== undefined) placeholders.refuseChanged(found.field);
    if (found !== undefined && placeholders.isAsked(found.field))
      return { placeholder: placeholders.nameOf(found.field) };
    if (found !== undefined && keepsKind) return orNull(parentField(found.field));
    if (found !== undefined) return parentText(found.field);
    const [, name] = /^incremental\.(\w+)$/.exec(field) ?? [];
    const value = name === undefined ? undefined : incremental?.fields[name];
    if (value !== undefined) return value;
    throw new Untaken(`the placeholder “${field}”`);
  };
}

/** The names of fields that are numbers or texts in every row. */
const IDENTIFIER =
  /(?:^|[._-])(?:[b-df-hj-np-tv-z]?id|[iu]id|uuid|guid|key|slug)$|[a-z](?:Id|ID|Uid|Uuid|Key)$/;

function parentField(field: string): TranslatedValue {
  return { parent: pathOf(field, 'a field of the parent') };
}

/** Returns a field of the parent row with its type; a reference alone is an error where the row has null. */
function orNull(value: TranslatedValue): TranslatedValue {
  return call('if', call('is', value, 'present'), value);
}

/** Returns a field of the parent row as Python writes it in a text: true is `True`, and null `None`. */
function parentText(field: string): TranslatedValue {
  return call('python_text', orNull(parentField(field)));
}

/** Returns the endpoint; static parameters that it names are put in and sent nowhere else. */
function addressOf(
  { path, params }: Resource,
  settings: SourceSettings,
  placeholders: Placeholders,
  resolve: Resolve,
  inPath: Set<string>,
): TranslatedValue {
  let endpoint = '';
  for (const part of partsOf(path)) {
    if ('text' in part && /[{}]/.test(part.text)) throw new Untaken('braces in the address', path);
    const value =
      'text' in part ? part.text : fieldValue(part.field, params, settings, placeholders, resolve, inPath);
    endpoint += typeof value === 'string' ? value : `{${placeholders.computed(value)}}`;
  }
  return endpoint.replace(/^\/+/, '');
}

function fieldValue(
  field: string,
  params: ValueMap,
  settings: SourceSettings,
  placeholders: Placeholders,
  resolve: Resolve,
  inPath: Set<string>,
): TranslatedValue {
  const own = resourceField(field);
  if (own !== undefined) return parentPart(own.field, placeholders);
  if (!params.entries.has(field)) return resolve(field, false);
  const value = params.get(field);
  const parent = resolveParam(value);
  inPath.add(field);
  return parent === undefined ? textOut(value, settings) : parentPart(parent.field, placeholders);
}

/** Returns a field of the parent row as part of the address. */
function parentPart(field: string, placeholders: Placeholders): TranslatedValue {
  placeholders.refuseChanged(field);
  return placeholders.isAsked(field) ? `{${placeholders.nameOf(field)}}` : parentText(field);
}

function queryOf(
  params: ValueMap,
  inPath: ReadonlySet<string>,
  resolve: Resolve,
  settings: SourceSettings,
): Record<string, TranslatedValue> {
  refuseOpen(params);
  const rest: [string, Value][] = [];
  for (const [name, value] of params.entries) {
    if (inPath.has(name) || isIncrementalParam(value)) continue;
    if (resolveParam(value) !== undefined)
      throw new Untaken(`“${name}” of a parent, which is not in the path`, value);
    rest.push([name, value]);
  }
  return filledMap(new ValueMap(rest), resolve, settings, true);
}

function methodOf({ endpoint, findings, at }: Resource): string {
  const value = endpoint.get('method') ?? 'GET';
  if (typeof value === 'string' && /^(?:get|post|put|patch|delete)$/i.test(value)) return value.toUpperCase();
  findings.not(`${at}.endpoint.method`, 'No counterpart: the method of the request', value);
  return 'GET';
}

function bodyOf({ endpoint, findings }: Resource, resolve: Resolve, settings: SourceSettings): ResourceJob {
  const [json, data] = [endpoint.get('json'), endpoint.get('data')];
  if (isGiven(json) && isGiven(data)) throw new Untaken('“json” and “data” at once');
  if (isGiven(json)) return { body: deepFilled(json, resolve, settings), bodyFormat: 'json' };
  if (!isGiven(data)) return {};
  if (data instanceof ValueMap) return { body: filledMap(data, resolve, settings), bodyFormat: 'form' };
  if (typeof data === 'string') {
    const parts = partsOf(data);
    if (parts.some((part) => 'field' in part)) throw new Untaken('a text as body with placeholders', data);
    findings.note('The text of the body is sent with the type text/plain, and with none there.');
    return { body: parts.map((part) => ('text' in part ? part.text : '')).join(''), bodyFormat: 'text' };
  }
  throw new Untaken('a body that code makes', data);
}

/** Returns the path of the rows; undefined where the library looks for them itself. */
function dataFieldOf({ endpoint, findings }: Resource, isEntity: boolean): TranslatedValue | undefined {
  const selector = endpoint.get('data_selector');
  if (!isGiven(selector)) {
    if (isEntity) return '.';
    findings.otherRows(
      'Guessed where the rows are: no data_selector is named, so that the library looks for them in the first answer. Here they are the answer where that is a list, or its only list at the top. Several lists are an error here; with a list further inside, or none, there are no rows here and a warning, where the library takes that list, or the whole answer as one row. Name “data_selector” in the source: “$” is the whole answer.',
    );
    return undefined;
  }
  const path = pathOf(selector, 'data_selector');
  if (mayHaveLists(path))
    findings.otherRows(
      'The data_selector leads to several places. The same rows where there are objects; where there are lists, each of them is a row with the list as JSON here, and there as well, with tables of their items, unless there is only one: its items are the rows then. To have the items of all as rows, write [*] behind it.',
    );
  return path;
}

/** Tells whether a path ends in a placeholder: such a request gives one object, and no pages. */
function isSingleEntity(path: string): boolean {
  return /\{[a-zA-Z0-9.\-_]+\}/.test(path.split('/').findLast((part) => part !== '') ?? '');
}

/** Returns the names of the fields that a resource includes from its parent. */
function includedFields({ map, parent }: Resource): readonly string[] {
  const fields = map.get('include_from_parent');
  if (parent === undefined || !isList(fields)) return [];
  return fields.filter((field) => typeof field === 'string');
}

function columnsOf(
  { map, parent, findings, at }: Resource,
  above: JobContext['above'],
  shape: RowShape,
): Record<string, TranslatedValue> {
  const fields = map.get('include_from_parent');
  // a new dictionary has none of them
  if (!isGiven(fields) || !shape.keepsRest) return {};
  if (!isList(fields) || parent === undefined) {
    findings.not(`${at}.include_from_parent`, 'No counterpart: fields of a parent', fields);
    return {};
  }
  return Object.fromEntries(
    fields.map((field) => {
      const name = plainText(field, 'include_from_parent');
      if (above?.included.has(name) === true)
        throw new Untaken(`“${name}”, which the parent includes from its own parent`);
      refuseChanged(name, above);
      findings.column(
        `“_${parent}_${name}” is called “${parent}_${name}”, and is empty where it is an object`,
      );
      return [`${parent}_${name}`, { parent: name }];
    }),
  );
}

/** Refuses a field of the parent that its steps change: requests have what the API gave. */
function refuseChanged(field: string, above: JobContext['above']): void {
  if (above !== undefined && !isKept(above.shape, field))
    throw new Untaken(`“${field}” of the parent, which a step of it changes`);
}

function tableOf({ map, name, findings, at }: Resource): string {
  const table = map.get('table_name');
  if (typeof table === 'string') return table;
  if (isGiven(table)) findings.not(`${at}.table_name`, 'No counterpart: a table that code names', table);
  return name;
}

function isGiven(value: Value | undefined): value is Exclude<Value, null> {
  return value !== undefined && value !== null && !(value instanceof Code && value.text === '');
}
