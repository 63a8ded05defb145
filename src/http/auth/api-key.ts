import { ConfigError } from '../../errors.ts';
import { getKey } from '../../json/index.ts';
import { withHeader } from '../message.ts';
import { signing, type AuthType } from './auth.ts';
import { overrideQuery } from './url-query.ts';
import { headerText, optionalText, requiredText } from './values.ts';

/**
 * A key in a header or in the query: `{"type": "apiKey", "name": "X-Api-Key", "#key": "abc"}` sends
 * `X-Api-Key: abc`, with `"in": "query"` `?X-Api-Key=abc`. `prefix` is put before the key as it stands.
 */
export const apiKey: AuthType = {
  type: 'apiKey',
  options: {
    type: 'object',
    title: 'API key',
    description: 'Sends a key in a header or in the query of every request.',
    required: ['type', 'name'],
    anyOf: [{ required: ['#key'] }, { required: ['key'] }],
    properties: {
      type: {
        const: 'apiKey',
        title: 'Type',
        description: 'A key in a header or in the query.',
        examples: ['apiKey'],
      },
      '#key': {
        type: ['string', 'number', 'object'],
        title: 'Key',
        description: 'The key, or a function that gives it (it sees `attr`).',
        examples: ['0f3b', { attr: '#apiKey' }],
      },
      key: {
        type: ['string', 'number', 'object'],
        title: 'Key, not hidden',
        description: 'The same as `#key`, stored in plain text. `#key` wins.',
        examples: [{ attr: '#apiKey' }],
      },
      name: {
        type: 'string',
        minLength: 1,
        title: 'Name',
        description: 'The name of the header or of the query parameter.',
        examples: ['X-Api-Key', 'api_key'],
      },
      in: {
        enum: ['header', 'query'],
        default: 'header',
        title: 'Place',
        description: 'Where the key is sent.',
        examples: ['header'],
      },
      prefix: {
        type: 'string',
        default: '',
        title: 'Prefix',
        description: 'A text before the key, with its space if it needs one.',
        examples: ['Token '],
      },
    },
    examples: [{ type: 'apiKey', name: 'X-Api-Key', '#key': '0f3b' }],
  },

  create(node, context) {
    const name = requiredText(node, ['name'], context);
    const value =
      (optionalText(node, ['prefix'], context) ?? '') + requiredText(node, ['#key', 'key'], context);
    const place = getKey(node, 'in') ?? 'header';
    if (place === 'query')
      return signing((request) => ({ ...request, url: overrideQuery(request.url, [[name, value]]) }));
    if (place === 'header') {
      const text = headerText(value, `${context.at}.#key`);
      return signing((request) => ({ ...request, headers: withHeader(request.headers, name, text) }));
    }
    throw new ConfigError('config.invalid', '“in” must be "header" or "query".', {
      where: { path: `${context.at}.in` },
    });
  },
};
