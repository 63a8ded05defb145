import { isLeftOut, type Contexts, type Evaluate } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  entriesOf,
  isList,
  isObject,
  isScalar,
  objectOf,
  toText,
  getKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import type { ExtractionJob } from './job.ts';
import { jobError } from './read-job.ts';
import type { JobInvocation } from './run.ts';
import { substituteText, substituteValue } from './substitute.ts';
import { contextsOf, evaluateMap } from './values.ts';
import { escapeInBody } from '../../lib/escapes.ts';

/**
 * Creates the first request of a job invocation: placeholders are put into the endpoint, the parameters, the body and
 * the headers, then the functions in these are evaluated. The transport does the encoding.
 *
 * Placeholders go first, so a function may take one as an argument: `{"function": "md5", "args": ["{user-id}"]}`.
 *
 * @param common `attr` and `time`; a child also gets `placeholder` and `parent`, see {@link contextsOf}
 * @throws {FunctionError} when a function fails
 * @throws {JobError} when a header is no text after that
 */
export function firstRequest(
  job: ExtractionJob,
  run: JobInvocation,
  evaluate: Evaluate,
  common: Contexts,
): JobRequest {
  const contexts = () => contextsOf(run, common);
  const filled = (map: AnyObject, at: string) => evaluateMap(substituteMap(map, run), evaluate, contexts, at);
  const headers = filled(job.headers, `${job.at}.headers`);
  checkHeaders(headers, `${job.at}.headers`);
  const { query, bodyFormat } = job;
  const body = bodyOf(job, run, evaluate, common);
  return {
    endpoint: endpointOf(job, run, evaluate, contexts),
    method: job.method,
    params: filled(job.params, `${job.at}.params`),
    headers,
    ...(job.paramsIn === undefined ? {} : { paramsIn: job.paramsIn }),
    ...(query === undefined ? {} : { query: filled(query, `${job.at}.query`) }),
    ...(body === undefined ? {} : { body }),
    ...(isLeftEmpty(job.body, body) ? { emptyBody: 'none' as const } : {}),
    ...(bodyFormat === undefined ? {} : { bodyFormat }),
  };
}

/** Tells if all fields of a body are left out: it is none then, unless parameters or pages put something into it. */
function isLeftEmpty(asked: Json | undefined, body: Json | undefined): boolean {
  if (!isObject(asked) || !isObject(body) || getKey(asked, 'function') !== undefined) return false;
  return entriesOf(body).length === 0 && entriesOf(asked).length > 0;
}

function endpointOf(
  { endpoint, endpointCall, at }: ExtractionJob,
  { parameters }: JobInvocation,
  evaluate: Evaluate,
  contexts: () => Contexts,
): string {
  if (endpointCall === undefined) return substituteText(endpoint, parameters);
  const place = `${at}.endpoint`;
  const value = evaluate(substituteValue(endpointCall, parameters), contexts(), place);
  if (isScalar(value) && toText(value) !== '') return toText(value);
  throw jobError(
    place,
    `The function of “endpoint” gives ${value === '' ? 'an empty text' : kindOf(value)}, not an address`,
    'It must give a path or a URL.',
  );
}

function substituteMap(map: AnyObject, { parameters }: JobInvocation): AnyObject {
  if (parameters.length === 0) return map;
  return objectOf(entriesOf(map).map(([key, value]) => [key, substituteValue(value, parameters)] as const));
}

function checkHeaders(headers: AnyObject, at: string): void {
  for (const [name, value] of entriesOf(headers)) {
    if (!hasObject(value)) continue;
    throw jobError(
      `${at}.${name}`,
      `The header “${name}” is an object, not a text`,
      'Give a text, or a function such as {"function": "concat", "args": ["Bearer ", {"attr": "#token"}]}.',
    );
  }
}

function hasObject(value: Json): boolean {
  return isObject(value) || (isList(value) && value.some((item) => hasObject(item)));
}

/**
 * Returns the body of a job invocation: values of placeholders are put in, then the functions in it are evaluated. In a
 * text they are escaped as its format requires, so that a value cannot break the text.
 */
function bodyOf(
  job: ExtractionJob,
  run: JobInvocation,
  evaluate: Evaluate,
  common: Contexts,
): Json | undefined {
  const { body, bodyFormat } = job;
  if (body === undefined) return undefined;
  const { parameters } = run;
  const at = `${job.at}.body`;
  if (typeof body === 'string')
    return substituteText(
      body,
      parameters,
      escapeInBody(bodyFormat ?? (job.method === 'FORM' ? 'form' : 'text')),
    );
  const filled = substituteValue(body, parameters);
  let contexts: Contexts | undefined;
  const evaluated = (value: Json, path: string): Json => {
    if (isList(value)) return value.map((item, i) => evaluated(item, `${path}[${i}]`));
    return isObject(value) ? evaluate(value, (contexts ??= contextsOf(run, common)), path) : value;
  };
  // a body with one key, such as {"time": …}, is no reference: a body is made by a function or by its values
  if (!isObject(filled) || getKey(filled, 'function') !== undefined) return evaluated(filled, at);
  return objectOf(
    entriesOf(filled).flatMap(([key, written]) => {
      const value = evaluated(written, `${at}.${key}`);
      return isLeftOut(written, value) ? [] : [[key, value] as const];
    }),
  );
}
