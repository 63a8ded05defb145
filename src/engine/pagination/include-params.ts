import { option } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  keysOf,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { FLAG } from './shared-options.ts';
import { invalid, read } from './pagination-settings.ts';
import { withoutParams } from './request.ts';

/** Returns the parameters of the job that the requests after the first have; see {@link includeParams}. */
export function includedParams(
  options: AnyObject,
  at: string,
  fallback = false,
): (request: JobRequest) => JobRequest {
  const value = getKey(options, 'includeParams');
  const here = `${at}.includeParams`;
  if (isObject(value) && !isEmpty(value)) {
    const [key, ...more] = keysOf(value);
    if (key !== 'except' || more.length > 0) throw wrong(here);
    const left = namesOf(getKey(value, 'except'), `${here}.except`);
    return onlyParams((name) => !left.has(name));
  }
  if (isList(value) && value.length > 0) {
    const kept = namesOf(value, here);
    return onlyParams((name) => kept.has(name));
  }
  return (read.flag(options, 'includeParams', at) ?? fallback) ? (request) => request : withoutParams;
}

function onlyParams(isKept: (name: string) => boolean): (request: JobRequest) => JobRequest {
  const only = (map: AnyObject): AnyObject => objectOf(entriesOf(map).filter(([name]) => isKept(name)));
  return ({ params, query, body, ...request }) => ({
    ...request,
    params: only(params),
    ...(query === undefined ? {} : { query: only(query) }),
    ...(body === undefined ? {} : { body: isObject(body) ? only(body) : body }),
  });
}

function namesOf(value: Json | undefined, at: string): ReadonlySet<string> {
  if (isList(value) && value.every(isScalar)) return new Set(value.map(toText));
  throw wrong(at);
}

function wrong(at: string): Error {
  return invalid(
    at,
    'It is not said which parameters are sent.',
    'Write true, false, the names of those that are sent, or {"except": […]} with those that are not.',
  );
}

export const includeParams = option(
  'Keep the job parameters',
  'Which `params` of the job (and keys of its `query` and `body`) are sent with the requests after the first, too: all (`true`), none (`false`), those of a list of names, or all `{"except": […]}` those of a list.',
  {
    anyOf: [
      FLAG,
      { type: 'array', items: { type: 'string' } },
      {
        type: 'object',
        additionalProperties: false,
        required: ['except'],
        properties: {
          except: option('Except', 'Names of parameters that only the first request has.', {
            type: 'array',
            items: { type: 'string' },
            examples: [['since']],
          }),
        },
      },
    ],
    default: false,
    examples: [true, ['limit'], { except: ['since'] }],
  },
);
