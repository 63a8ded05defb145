import type { Contexts, Evaluate } from '../shared/evaluate.ts';
import { escapeInBody } from '../../lib/escapes.ts';
import { entriesOf, getKey, isList, isObject, objectOf, type Json } from '../../lib/json/index.ts';
import type { ExtractionJob } from './job.ts';
import type { JobInvocation } from './run.ts';
import { substituteText, substituteValue } from './substitute.ts';
import { contextsOf } from './values.ts';

/**
 * Returns the body of a job invocation: values of placeholders are put in, then the functions in it are evaluated. In a
 * text they are escaped as its format requires, so that a value cannot break the text.
 */
export function bodyOf(
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
  return objectOf(entriesOf(filled).map(([key, value]) => [key, evaluated(value, `${at}.${key}`)] as const));
}
