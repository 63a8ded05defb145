import { map, object, typeNamed } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isEmpty } from '../../../lib/json/index.ts';
import { withHeader } from '../../shared/message.ts';
import { signing, type AuthType } from './auth.ts';
import { queryContext, requestContext } from './contexts.ts';
import { evaluateMap, headerText } from './values.ts';

/**
 * Headers set on every request: `{"type": "headers", "headers": {"X-Key": {"attr": "#key"}, "X-Secret": {"attr":
 * "#secret"}}}`. Functions see `attr`, `query` (the query of the request) and `request`.
 */
export const headers: AuthType = {
  type: 'headers',
  options: object('Headers', 'Sets one or several headers on every request.', {
    required: ['type', 'headers'],
    properties: {
      type: typeNamed('headers', 'Several headers.'),
      headers: map(
        'Headers',
        'Names and values. A value is a scalar or a function that sees `attr`, `query` (the query of the request) and `request` (`url`, `path`, `queryString`, `method`, `hostname`, `port`, `resource`).',
        [{ 'X-Key': { attr: '#key' }, 'X-Secret': { attr: '#secret' } }],
      ),
    },
    examples: [{ type: 'headers', headers: { 'X-Key': { attr: '#key' }, 'X-Secret': { attr: '#secret' } } }],
  }),

  create(node, context) {
    const values = getKey(node, 'headers');
    const at = `${context.at}.headers`;
    if (isEmpty(values))
      throw new ConfigError('config.invalid', 'The authentication needs “headers”, the headers to set.', {
        where: { path: at },
        hint: 'Write for example "headers": {"X-Key": {"attr": "#key"}}.',
      });
    return signing((request) => {
      const contexts = {
        attr: context.attributes,
        query: queryContext(request),
        request: requestContext(request),
      };
      let all = request.headers;
      for (const [name, value] of evaluateMap(values, contexts, context, at))
        all = withHeader(all, name, headerText(value, `${at}.${name}`));
      return { ...request, headers: all };
    });
  },
};
