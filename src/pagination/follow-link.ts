import type { OptionSchema } from '../evaluate.ts';
import type { JobRequest } from '../http/message.ts';
import { entriesOf, isEmpty, type AnyObject, type Json } from '../json/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { parseQuery } from './parse-query.ts';
import { placeOf, requestOf, withoutParams, withParam } from './request.ts';
import { FLAG, includeParams, queryParamIn } from './shared-options.ts';
import { invalid, read } from './settings.ts';

/** Options of the methods that read a link in the body. */
export const linkOptions: Readonly<Record<string, OptionSchema>> = {
  includeParams,
  paramIsQuery: {
    title: 'The value is a query string',
    description:
      'Whether the value is only a query string, such as `page=2&limit=10`. Its parameters then replace those of the job, and the endpoint stays.',
    ...FLAG,
    default: false,
    examples: [true],
  },
  queryParamIn,
};

/** The link of a page, or undefined where there is none. Anything but text is a mistake (spec extractor 2.5). */
export function linkOf(value: Json | undefined, urlKey: string, at: string): string | undefined {
  if (isEmpty(value, 'response')) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(
    `${at}.urlKey`,
    `\`${urlKey}\` of the response is not text, so it is no link.`,
    'Name the property that holds the URL in `urlKey`; for a token use the method response.param.',
  );
}

/** Makes the request that follows a link of the body: the link as it is, or its parameters. */
export function linkFollower(
  options: AnyObject,
  job: PaginatedJob,
  at: string,
): (link: string) => JobRequest {
  const keepParams = read.flag(options, 'includeParams', at) ?? false;
  const isQuery = read.flag(options, 'paramIsQuery', at) ?? false;
  const place = placeOf(options, job, at);
  const request = keepParams ? requestOf(job) : withoutParams(requestOf(job));
  return (link) => {
    if (!isQuery) return { ...request, endpoint: link, fromResponse: true };
    const params = entriesOf(parseQuery(link));
    return params.reduce((next, [name, value]) => withParam(next, name, value, place), request);
  };
}
