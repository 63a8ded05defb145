import { option, type OptionSchema } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import { compilePlace, sourceSchema, type Source } from '../language/index.ts';
import { entriesOf, getKey, isEmpty, withKey, type AnyObject, type Json } from '../../lib/json/index.ts';
import { requiredSource, type SourceForm } from './language.ts';
import type { MethodContext, PaginatedJob } from './paginator.ts';
import { parseQuery } from './parse-query.ts';
import { includedParams, includeParams } from './include-params.ts';
import { placeOf, requestOf } from './request.ts';
import { FLAG, queryParamIn } from './shared-options.ts';
import { invalid, read } from './pagination-settings.ts';

/** Options of the methods that read a link in the body. */
export const linkOptions: Readonly<Record<string, OptionSchema>> = {
  includeParams,
  paramIsQuery: option(
    'The value is a query string',
    'Whether the value is only a query string, such as `page=2&limit=10`. Its parameters then replace those of the job, and the endpoint stays.',
    { ...FLAG, default: false, examples: [true] },
  ),
  queryParamIn,
};

/** Option that names the link in the body. */
export const urlKey: OptionSchema = {
  ...sourceSchema(
    'Path of the link',
    'Path of the property of the response that holds the address of the next page, or another source.',
    ['links.next', { path: 'links', where: { rel: 'next' }, take: 'href' }, { header: 'X-Next' }],
  ),
  default: 'next_page',
};

/** The source of the link. */
export function linkSource(options: AnyObject, context: MethodContext, form?: SourceForm): Source {
  return requiredSource(withDefault(options), 'urlKey', context, form);
}

function withDefault(options: AnyObject): AnyObject {
  return isEmpty(getKey(options, 'urlKey')) ? withKey(options, 'urlKey', 'next_page') : options;
}

/** Returns the link of a page, or undefined when there is none. Anything but text is an error. */
export function linkOf(value: Json | undefined, { text, at }: Source): string | undefined {
  if (isEmpty(value, 'response')) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(
    at,
    `\`${text}\` of the response is not text, so it is no link.`,
    'Name the property that holds the URL in `urlKey`; for a token use the method response.param.',
  );
}

/** Returns a function that builds the request of a link in the body: the link as it is, or its parameters. */
export function linkFollower(
  options: AnyObject,
  job: PaginatedJob,
  at: string,
): (link: string) => JobRequest {
  const isQuery = read.flag(options, 'paramIsQuery', at) ?? false;
  const by = placeOf(options, job, at);
  const request = includedParams(options, at)(requestOf(job));
  return (link) => {
    if (!isQuery) return { ...request, endpoint: link, fromResponse: true };
    const params = entriesOf(parseQuery(link));
    return params.reduce((next, [name, value]) => compilePlace(name, { at, by }).put(next, value), request);
  };
}
