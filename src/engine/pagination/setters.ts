import { definition, option, type OptionSchema } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import { PaginationError } from '../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Place, Source } from '../language/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { placeAt, requiredSource } from './language.ts';
import type { MethodContext, PaginatedJob } from './paginator.ts';
import { invalid, read } from './pagination-settings.ts';

/** A value of the exchange that goes somewhere in the next request. */
export interface Setter {
  readonly from: Source;
  /** Keys of the source and the place below the pagination, for messages: `set[0].from`. */
  readonly fromKey: string;
  readonly to: { readonly place: Place; readonly at: string; readonly key: string };
  /** True when the value is an object that is merged in. */
  readonly isMerged: boolean;
}

/** Tells whether the options have two texts: in this form the job's parameters are left out by default. */
export function isShortForm(options: AnyObject): boolean {
  return (
    !isObject(getKey(options, 'responseParam')) &&
    !isObject(getKey(options, 'queryParam')) &&
    !hasSet(options)
  );
}

function hasSet(options: AnyObject): boolean {
  return ['set', 'merge'].some((key) => !isEmpty(getKey(options, key)));
}

/**
 * Reads the setters of the next request: `responseParam` and `queryParam`, or `set` and `merge`. The value of the first
 * one decides whether there is a next page.
 *
 * @throws {PaginationError} when there is none, or one is written wrongly
 */
export function settersOf(
  options: AnyObject,
  job: PaginatedJob,
  context: MethodContext,
): readonly [Setter, ...Setter[]] {
  const { at } = context;
  const delimiter = read.text(options, 'delimiter', at);
  const isShort = ['responseParam', 'queryParam'].some((key) => !isEmpty(getKey(options, key)));
  if (!hasSet(options))
    return [
      {
        from: requiredSource(options, 'responseParam', context, { delimiter }),
        fromKey: 'responseParam',
        to: {
          place: placeAt(options, 'queryParam', job, context),
          at: `${at}.queryParam`,
          key: 'queryParam',
        },
        isMerged: false,
      },
    ];
  if (isShort)
    throw invalid(
      `${at}.responseParam`,
      '`responseParam` and `queryParam` are the short form of one entry of `set`.',
      'Put them into `set`: {"from": …, "to": …}.',
    );
  const [first, ...more] = settersIn(options, ['set', 'merge'], job, context, delimiter);
  if (first === undefined) throw new Error('a set that is not empty has no entry');
  return [first, ...more];
}

/** Reads the setters of `set` and `merge`, in this order. */
export function settersIn(
  options: AnyObject,
  keys: readonly ('set' | 'merge')[],
  job: PaginatedJob,
  context: MethodContext,
  delimiter?: string,
): readonly Setter[] {
  const { at } = context;
  const make = (node: Json, key: string, isMerged: boolean): Setter => {
    const here = `${at}.${key}`;
    if (!isObject(node)) throw notAStep(here, node);
    const strange = entriesOf(node).find(([name]) => name !== 'from' && name !== 'to');
    if (strange !== undefined)
      throw invalid(`${here}.${strange[0]}`, `“${strange[0]}” is not known here.`, STEP);
    const inner = { ...context, at: here };
    // the pagination decides where parameters go
    const place = placeAt(node, 'to', { ...job, ...placeOfParams(options, job) }, inner);
    return {
      from: requiredSource(node, 'from', inner, { delimiter }),
      fromKey: `${key}.from`,
      to: { place, at: `${here}.to`, key: `${key}.to` },
      isMerged,
    };
  };
  return keys.flatMap((key) => {
    const value = getKey(options, key);
    if (isEmpty(value) || value === undefined) return [];
    if (!isList(value)) return [make(value, key, key === 'merge')];
    return value.map((item, i) => make(item, `${key}[${i}]`, key === 'merge'));
  });
}

function placeOfParams(options: AnyObject, job: PaginatedJob): Pick<PaginatedJob, 'queryParamIn'> {
  const own = getKey(options, 'queryParamIn');
  return job.queryParamIn === undefined && own === 'query' ? { queryParamIn: 'query' } : {};
}

const STEP = 'Write {"from": "meta.next", "to": "cursor"}.';

function notAStep(at: string, node: Json): Error {
  return invalid(at, `What is set is written as an object, and here is ${kindOf(node)}.`, STEP);
}

/** Returns the first request, in which a place inside a text holds its `first`. */
export function withBlanks(setters: readonly Setter[], request: JobRequest): JobRequest {
  return setters.reduce((made, { to }) => to.place.blank(made), request);
}

/**
 * Returns the request with the values set. A value that is absent or null is left out.
 *
 * @param values the values of the sources, in the order of the setters
 * @throws {PaginationError} when what is to be merged is no object
 */
export function applied(
  setters: readonly Setter[],
  values: readonly (Json | undefined)[],
  request: JobRequest,
): JobRequest {
  return setters.reduce((made, { from, to, isMerged }, i) => {
    const value = values[i];
    if (value === undefined || value === null) return to.place.blank(made);
    if (!isMerged) return to.place.put(made, value);
    if (isObject(value)) return to.place.merge(made, value);
    throw new PaginationError(
      'pagination.invalid',
      `\`${from.text}\` of the response is to be merged into the request, and it is ${kindOf(value)}.`,
      { where: { path: from.at }, hint: 'Use `set` for a single value.' },
    );
  }, request);
}

const step = (more: string): Readonly<Record<string, OptionSchema>> => ({
  from: option('From', `Path in the response, or another source: ${more}.`, {
    allOf: [definition('source')],
    examples: ['next.name', { last: 'id' }],
  }),
  to: option('To', 'Where it goes: the name of a parameter, or a place in the request.', {
    allOf: [definition('place')],
    examples: ['name', { body: 'variables.after' }],
  }),
});

const entry = (more: string): OptionSchema => ({
  type: 'object',
  required: ['from', 'to'],
  additionalProperties: false,
  properties: step(more),
});

/** JSON Schema of `set`. */
export const SET = option(
  'Values of the next request',
  'Several values for the next request, each from a source to a place. It ends when the first has no value; others that are absent are left out.',
  {
    type: 'array',
    items: entry('the value'),
    examples: [
      [
        { from: 'next.name', to: 'name' },
        { from: 'next.type', to: 'type' },
      ],
    ],
  },
);

/** JSON Schema of `merge`. */
export const MERGE = option(
  'Objects of the next request',
  'An object of the response that is merged whole into the next request (`{"query": "*"}`, `{"body": "*"}`), or a list of such. Without `set`, it ends when there is none.',
  {
    type: ['object', 'array'],
    items: entry('an object'),
    properties: step('an object'),
    examples: [{ from: 'continue', to: { query: '*' } }],
  },
);
