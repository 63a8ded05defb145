import { kind, map, object } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isEmpty } from '../../../lib/json/index.ts';
import { signing, type AuthType } from './auth.ts';
import { queryContext, requestContext } from './contexts.ts';
import { overrideQuery } from './url-query.ts';
import { evaluateMap, queryParameter } from './values.ts';

/**
 * Parameters added to the query of every request, whatever its method.
 *
 * `{"type": "query", "query": {"api_key": {"attr": "#key"}}}` sends `?…&api_key=…`. A parameter of the same name is
 * replaced in its place. Functions see `attr`, `query` (the query so far) and `request`.
 */
export const query: AuthType = {
  type: 'query',
  deprecated: 'url.query',
  options: object('Query parameters', 'Adds parameters to the query of every request.', {
    required: ['type'],
    properties: {
      type: kind({ enum: ['query', 'url.query'] })(
        'Type',
        'Parameters in the query. `url.query` is an older word for the same.',
        ['query'],
      ),
      query: map(
        'Parameters',
        'Names and values. A value is a scalar or a function that sees `attr`, `query` (the query of the request) and `request` (`url`, `path`, `queryString`, `method`, `hostname`, `port`, `resource`).',
        [{ api_key: { attr: '#key' } }],
      ),
    },
    examples: [{ type: 'query', query: { api_key: { attr: '#key' } } }],
  }),

  create(node, context) {
    const values = getKey(node, 'query');
    const at = `${context.at}.query`;
    if (isEmpty(values))
      throw new ConfigError(
        'config.invalid',
        'The query authentication needs “query”, the parameters to add.',
        {
          where: { path: at },
          hint: 'Write for example "query": {"api_key": {"attr": "#key"}}.',
        },
      );
    return signing((request) => {
      const contexts = {
        attr: context.attributes,
        query: queryContext(request),
        request: requestContext(request),
      };
      const parameters = evaluateMap(values, contexts, context, at);
      return {
        ...request,
        url: overrideQuery(
          request.url,
          parameters.map((item) => queryParameter(item, at)),
        ),
      };
    });
  },
};
