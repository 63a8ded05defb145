import { parseCompleteness } from '../shared/completeness-signs.ts';
import type { BodyFormat } from '../shared/message.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  md5,
  objectOf,
  serializeMap,
  toJsonText,
  toText,
  withoutKey,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { textPlacesIn } from '../language/index.ts';
import { readBody } from './body.ts';
import { splitComputed, type Computed } from './computed.ts';
import { parseFormat, type FormatSettings } from '../formats/index.ts';
import { systemEnv } from '../../lib/env.ts';
import { createCaller } from './functions/evaluate.ts';
import { askedOf } from './incremental/asked.ts';
import { checkStateNames } from './incremental/names.ts';
import { parseIncremental, type Incremental } from './incremental/read-incremental.ts';
import { compileParentFilter } from './parent-filter.ts';
import { parseGroup, withParentColumn, type Group } from './group.ts';
import { parseOver, type OverList } from './over.ts';
import { parseExport } from './export/read-export.ts';
import type { ExportSettings } from './export/export-settings.ts';
import { Attachments } from './parents.ts';
import { parsePlaceholders, type Placeholder } from './placeholders.ts';
import { given, asItems, asObject, kindOf } from '../../lib/read-settings.ts';
import { readPrimaryKey } from './primary-key.ts';
import { jobError, read } from './read-job.ts';
import { readUserData } from './user-data.ts';
import { warnAbout, type JobWarning } from './warnings.ts';
import { parseWindows, type Windows } from './windows/read-windows.ts';
import { withWindowTimes } from './windows/uses.ts';

/** The methods a job may have; FORM is a POST with a form for a body. */
export const METHODS = ['GET', 'POST', 'FORM', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** A job of the configuration, checked, with its defaults filled in. Frozen. */
export interface ExtractionJob {
  /** As given, else a hash of the definition. */
  readonly id: string;
  /** For logs: the id when one is given, else the data type. */
  readonly name: string;
  /** JSON path of the definition. */
  readonly at: string;
  /** 0 for a job, 1 for its children, and so on: the number of rows above it. */
  readonly level: number;
  /** As written, with placeholders in braces; a function as JSON text. */
  readonly endpoint: string;
  /** The function that makes the endpoint, where it is one. */
  readonly endpointCall?: AnyObject;
  readonly method: Method;
  /** As written, functions and placeholders unevaluated; so are the headers and the user data. */
  readonly params: AnyObject;
  readonly headers: AnyObject;
  readonly paramsIn?: 'query' | 'body';
  /** Parameters for the query, whatever the method is. */
  readonly query?: AnyObject;
  /** As written; a map, a list or a text. */
  readonly body?: Json;
  readonly bodyFormat?: BodyFormat;
  readonly queryParamIn?: 'query' | 'params';
  /** Path of the rows in a response. */
  readonly dataField?: Path;
  /** Further places, whose rows follow. */
  readonly otherFields?: readonly Path[];
  /** How it comes to its rows by an export; the requests of the export are jobs without rows. */
  readonly export?: ExportSettings<ExtractionJob>;
  /** Format of the response bodies, if the job defines it. */
  readonly format?: FormatSettings;
  /** Names the table; the endpoint as written when nothing else is given. */
  readonly dataType: string;
  /** As written: `rowsAt`, `where`, `columns` and the others that say what the rows are made of and become. */
  readonly rowSettings: AnyObject;
  readonly responseFilter: readonly string[];
  readonly responseFilterDelimiter: string;
  readonly scroller?: string;
  /** In place of that of the API, as written. */
  readonly pagination?: AnyObject;
  readonly userData?: AnyObject;
  /** As written, and checked. */
  readonly completeness?: Json;
  /** As written; they come before those of the API, and children do not inherit them. */
  readonly reactions?: Json;
  readonly children: readonly ExtractionJob[];
  /** Placeholders of a child; the next property is for children only, too. */
  readonly placeholders: readonly Placeholder[];
  /** A text in the language of filters, or conditions over the parent row. */
  readonly recursionFilter?: Json;
  /** Placeholders that need no parent row. */
  readonly computed: readonly Computed[];
  /** Several parent rows are asked for in one request. */
  readonly group?: Group;
  /** Lists of which each combination of values gets a run of the job. */
  readonly over?: readonly OverList[];
  /** Stretches of time that each get a run of the job. */
  readonly windows?: Windows;
  /** Fields or columns that tell its rows apart, as written. */
  readonly primaryKey?: readonly string[];
  /** Settings of the incremental state. */
  readonly incremental?: Incremental;
}

/**
 * Reads the `jobs` of a configuration, with all children. Jobs of one list that have the same id, or the same
 * definition and no id, are one job: at the place of the first, with the definition of the last.
 *
 * @param node a list of jobs, or an object of names and jobs
 * @param at JSON path of the node, such as `parameters.config.jobs`
 * @param warnings receives what works, but hardly as meant
 * @param defaultOptions `api.http.defaultOptions`, whose `method` is that of jobs that name none
 * @param pagination that of the API, which may fill names in braces
 * @throws {JobError} naming the path of the first mistake
 */
export function parseJobs(
  node: Json | undefined,
  at: string,
  warnings: JobWarning[] = [],
  defaultOptions: AnyObject = {},
  pagination: Json = null,
): readonly ExtractionJob[] {
  const method = read.word(defaultOptions, 'method', 'parameters.api.http.defaultOptions', METHODS) ?? 'GET';
  const attachments = new Attachments(definitionsIn(node, at));
  const top = {
    level: 0,
    names: [],
    grouped: [],
    above: [],
    asked: [],
    attachments,
    places: textPlacesIn(pagination),
    method,
    contexts: new Set<string>(),
  };
  const jobs = parseList(node, at, top, warnings);
  attachments.finish();
  checkStateNames(jobs, warnings);
  if (jobs.length > 0) return jobs;
  throw jobError(at, 'There are no jobs', 'Give at least one job, such as {"endpoint": "users"}.');
}

/** Settings that a child inherits: the depth, the names of the placeholders above, and the default method. */
interface Above {
  /** JSON paths of the jobs above. */
  readonly above: readonly string[];
  /** Definitions that name their parents. */
  readonly attachments: Attachments;
  /** Request definitions of the jobs above. */
  readonly asked: readonly AnyObject[];
  /** Levels of the jobs above that ask for several parent rows at once. */
  readonly grouped: readonly number[];
  readonly level: number;
  readonly names: readonly string[];
  /** Names in braces that the pagination of the API fills. */
  readonly places: readonly string[];
  readonly method: Method;
  /** `window` and `state`, where a job above has them. */
  readonly contexts: ReadonlySet<string>;
}

function parseList(
  node: Json | undefined,
  at: string,
  above: Above,
  warnings: JobWarning[],
): readonly ExtractionJob[] {
  return parseDefinitions(
    definitionsIn(node, at).filter(([place]) => above.level > 0 || !above.attachments.has(place)),
    above,
    warnings,
  );
}

/** Returns the definitions in a list of jobs, by their JSON paths. */
function definitionsIn(node: Json | undefined, at: string): readonly (readonly [string, Json])[] {
  if (node === undefined || isEmpty(node)) return [];
  const map = asObject(node);
  if (map === undefined) throw jobError(at, `A list of jobs is expected here, not ${kindOf(node)}`);
  return entriesOf(map).map(
    ([key, value]) => [isList(node) ? `${at}[${key}]` : `${at}.${key}`, value] as const,
  );
}

function parseDefinitions(
  definitions: readonly (readonly [string, Json])[],
  above: Above,
  warnings: JobWarning[],
): readonly ExtractionJob[] {
  const jobs = new Map<string, ExtractionJob>();
  for (const [at, value] of definitions) {
    const job = parseJob(value, at, above, warnings);
    const same = jobs.get(job.id);
    if (same !== undefined) warnings.push(collapsed(same, job));
    jobs.set(job.id, job);
  }
  return Object.freeze([...jobs.values()]);
}

function parseJob(value: Json, at: string, above: Above, warnings: JobWarning[]): ExtractionJob {
  if (!isObject(value) && !(isList(value) && value.length === 0))
    throw jobError(at, `A job must be an object, not ${kindOf(value)}`, 'Write {"endpoint": "users"}.');
  const written = isObject(value) ? value : {};
  const node = withTimes(written);
  const { level } = above;
  const { endpoint, endpointCall } = readEndpoint(node, at);
  const id = readId(node, at);
  const dataType = read.text(node, 'dataType', at) ?? endpoint;
  if (endpointCall !== undefined && dataType === endpoint) throw nameless(at);
  const isChild = level > 0;
  const { computed, others } = splitComputed(getKey(node, 'placeholders'), `${at}.placeholders`);
  const placeholders = isChild ? parsePlaceholders(others, `${at}.placeholders`, level) : [];
  const over = parseOver(written, at);
  const group = parseGroup(node, at, placeholders, isChild);
  for (const { name, level: up, at: where } of placeholders)
    if (above.grouped.includes(level - up + 1) && up > 1) throw groupedAbove(name, where);
  const names = [
    ...above.names,
    ...placeholders.map(({ name }) => name),
    ...over.map(({ name }) => name),
    ...computed.map(({ name }) => name),
  ];
  const method = read.word(node, 'method', at, METHODS) ?? above.method;
  const contexts = new Set([
    ...above.contexts,
    ...(['windows', 'incremental'] as const).flatMap((key) =>
      isEmpty(getKey(node, key)) ? [] : [key === 'windows' ? 'window' : 'state'],
    ),
  ]);
  const asked = askedOf(node, above.method);
  const incremental = parseIncremental(getKey(node, 'incremental'), node, at, isChild || over.length > 0, {
    own: asked,
    above: above.asked,
  });
  if (group !== undefined && incremental?.isPerParent === true) throw stateOfGroup(at);
  const path = [...above.above, at];
  const attached = above.attachments.below(id ?? dataType, at, path);
  const job: ExtractionJob = {
    id: id ?? md5(serializeMap(written)),
    name: id ?? dataType,
    at,
    level,
    endpoint,
    ...given('endpointCall', endpointCall),
    method,
    params: read.map(node, 'params', at) ?? {},
    headers: read.map(node, 'headers', at) ?? {},
    dataType,
    responseFilter: readResponseFilter(getKey(node, 'responseFilter'), `${at}.responseFilter`),
    responseFilterDelimiter: read.text(node, 'responseFilterDelimiter', at) ?? '.',
    ...given('paramsIn', read.word(node, 'paramsIn', at, ['query', 'body'])),
    ...given('query', read.map(node, 'query', at)),
    ...readBody(node, method, at),
    ...given('queryParamIn', read.word(node, 'queryParamIn', at, ['query', 'params'])),
    ...readDataFields(getKey(node, 'dataField'), `${at}.dataField`),
    rowSettings: objectOf(
      entriesOf(withParentColumn(node, group, placeholders)).filter(([key]) => ROW_SETTINGS.has(key)),
    ),
    ...given('format', parseFormat(node, at, jobError)),
    ...given(
      'export',
      parseExport(node, at, (request, requestAt, more) =>
        parseRequest(request, requestAt, { ...above, contexts, names: [...names, ...more] }, warnings),
      ),
    ),
    ...given('scroller', read.text(node, 'scroller', at)),
    ...given('pagination', read.object(node, 'pagination', at)),
    ...given('reactions', getKey(node, 'reactions')),
    ...given('completeness', readCompleteness(node, at)),
    ...given('userData', readUserData(getKey(node, 'userData'), 'job_parent_id')),
    ...given('recursionFilter', isChild ? readFilter(node, at) : undefined),
    placeholders,
    computed,
    ...given('group', group),
    ...given('over', over.length === 0 ? undefined : over),
    ...given('primaryKey', readPrimaryKey(node, at)),
    ...given('incremental', incremental),
    ...given('windows', parseWindows(node, at, incremental !== undefined)),
    children: parseDefinitions(
      [
        ...definitionsIn(getKey(node, 'children'), `${at}.children`),
        ...attached.map((one) => [one.at, one.definition] as const),
      ],
      {
        ...above,
        level: level + 1,
        names,
        above: path,
        asked: [...above.asked, asked],
        grouped: group === undefined ? above.grouped : [...above.grouped, level],
        contexts,
      },
      warnings,
    ),
  };
  const places = job.pagination === undefined ? above.places : textPlacesIn(job.pagination);
  warnings.push(...warnAbout(job, others, node, { names, places, contexts }));
  return Object.freeze(job);
}

/** Parses a request of an export. Its placeholders are computed, also from the answers before it. */
function parseRequest(node: AnyObject, at: string, above: Above, warnings: JobWarning[]): ExtractionJob {
  const { computed } = splitComputed(getKey(node, 'placeholders'), `${at}.placeholders`);
  const names = [...above.names, ...computed.map(({ name }) => name)];
  const request = withoutKey(withoutKey(withoutKey(node, 'placeholders'), 'recursionFilter'), 'children');
  const own = objectOf([['dataType', 'export'], ...entriesOf(request).map(withoutParts)]);
  return { ...parseJob(own, at, { ...above, level: 0, names }, warnings), computed };
}

/** Leaves out for whom a state is kept: this is said of the job, which the request is a part of. */
function withoutParts([key, value]: readonly [string, Json]): readonly [string, Json] {
  return key === 'incremental' && isObject(value) ? [key, withoutKey(value, 'perParent')] : [key, value];
}

/** Gives functions of time the bounds in seconds, in a job with windows and in its children. */
function withTimes(node: AnyObject): AnyObject {
  if (getKey(node, 'windows') === undefined) return node;
  const timed = withWindowTimes(node);
  return isObject(timed) ? timed : node;
}

function groupedAbove(name: string, at: string): Error {
  return jobError(
    at,
    `The placeholder “${name}” asks for a row that a group of rows stands for: it is not known which one`,
    'Take the value from the row that starts the child, or leave “group” out above.',
  );
}

function stateOfGroup(at: string): Error {
  return jobError(
    `${at}.incremental.perParent`,
    'A job that asks for several parent rows at once has no state for each of them',
    'Leave “perParent” or “group” out.',
  );
}

function nameless(at: string): Error {
  return jobError(
    `${at}.dataType`,
    'A job whose “endpoint” is a function needs a name for its table',
    'Give it “dataType”, such as "articles".',
  );
}

function readCompleteness(node: AnyObject, at: string): Json | undefined {
  const value = getKey(node, 'completeness');
  parseCompleteness(value, `${at}.completeness`);
  return value;
}

function readEndpoint(
  node: AnyObject,
  at: string,
): { readonly endpoint: string; readonly endpointCall?: AnyObject } {
  const value = getKey(node, 'endpoint') ?? '';
  if (isObject(value)) return { endpoint: toJsonText(value), endpointCall: value };
  if (typeof value !== 'string' && !isNumber(value))
    throw jobError(
      `${at}.endpoint`,
      `“endpoint” must be a text, not ${kindOf(value)}`,
      'Give a path, or a function such as {"function": "concat", "args": ["reports/", {"attr": "account"}]}.',
    );
  const endpoint = toText(value);
  if (endpoint === '')
    throw jobError(
      `${at}.endpoint`,
      '“endpoint” is missing',
      'Give the address of the resource, such as "users".',
    );
  return { endpoint };
}

function readId(node: AnyObject, at: string): string | undefined {
  const value = getKey(node, 'id');
  if (value === undefined || isEmpty(value)) return undefined;
  if (typeof value === 'string') return value;
  throw jobError(`${at}.id`, `“id” must be a text, not ${kindOf(value)}`, 'Put it in double quotes.');
}

/** Settings for the content of rows, read in `records`. */
const ROW_SETTINGS: ReadonlySet<string> = new Set([
  'table',
  'rowsAt',
  'expand',
  'where',
  'columns',
  'exclude',
  'rename',
  'case',
  'cells',
  'links',
  'types',
]);

function readDataFields(
  value: Json | undefined,
  at: string,
): Pick<ExtractionJob, 'dataField' | 'otherFields'> {
  const items = isList(value) ? value : [value];
  const [first, ...others] = items.map((item, i) => readDataField(item, isList(value) ? `${at}[${i}]` : at));
  if (others.length === 0) return given('dataField', first);
  const known = [first, ...others].filter((path) => path !== undefined);
  if (known.length === items.length)
    return { ...given('dataField', first), otherFields: Object.freeze(known.slice(1)) };
  throw jobError(
    at,
    'One of the places of the rows is empty',
    'Give each place a path, such as "data.items".',
  );
}

function readDataField(value: Json | undefined, at: string): Path | undefined {
  if (value === undefined || isEmpty(value)) return undefined;
  if (typeof value === 'string' || isNumber(value)) return compilePath(toText(value), { at });
  if (!isObject(value))
    throw jobError(at, `“dataField” must be a path or {"path", "delimiter"}, not ${kindOf(value)}`);
  const path = read.text(value, 'path', at);
  if (path !== undefined)
    return compilePath(path, { delimiter: read.text(value, 'delimiter', at) ?? '.', at: `${at}.path` });
  throw jobError(
    `${at}.path`,
    'The path of “dataField” is missing',
    'Give the path of the rows, such as "data.items".',
  );
}

function readResponseFilter(value: Json | undefined, at: string): readonly string[] {
  if (value === undefined || isEmpty(value)) return [];
  const items = asItems(value) ?? [value];
  for (const item of items) {
    if (typeof item !== 'string' && !isNumber(item))
      throw jobError(at, `“responseFilter” must be a path or a list of paths, and here is ${kindOf(item)}`);
  }
  return Object.freeze(items.map((item) => toText(item)));
}

/** Compiles a filter for its errors alone: an invalid filter should end the run before it starts. */
function readFilter(node: AnyObject, at: string): Json | undefined {
  const value = getKey(node, 'recursionFilter');
  const filter =
    isObject(value) || isList(value)
      ? isEmpty(value)
        ? undefined
        : value
      : read.text(node, 'recursionFilter', at);
  if (filter !== undefined)
    compileParentFilter(filter, `${at}.recursionFilter`, createCaller(systemEnv, { placeholders: true }));
  return filter;
}

function collapsed(first: ExtractionJob, last: ExtractionJob): JobWarning {
  return {
    path: last.at,
    message: `“${last.name}” has the same id or definition as the job at ${first.at}: only this one runs, at the place of the other`,
    hint: 'Give each job its own “id” to run both.',
  };
}
