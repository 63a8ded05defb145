import { kind, object, text, typeNamed, value } from '../kinds.ts';
import { keyInOf, keyInSchema, putKey } from './key-place.ts';
import { signing, type AuthType } from './auth.ts';
import { headerText, optionalText, requiredText } from './values.ts';

/**
 * A key in a header, the query, the body or a cookie: `{"type": "apiKey", "name": "X-Api-Key", "#key": "abc"}` sends
 * `X-Api-Key: abc`, with `"in": "query"` `?X-Api-Key=abc`. `prefix` is put before the key as it stands.
 */
export const apiKey: AuthType = {
  type: 'apiKey',
  options: object('API key', 'Sends a key in a header, the query, the body or a cookie of every request.', {
    required: ['type', 'name'],
    anyOf: [{ required: ['#key'] }, { required: ['key'] }],
    properties: {
      type: typeNamed('apiKey', 'A key in a header, the query, the body or a cookie.'),
      '#key': value('Key', 'The key, or a function that gives it (it sees `attr`).', [
        '0f3b',
        { attr: '#apiKey' },
      ]),
      key: value('Key, not hidden', 'The same as `#key`, stored in plain text. `#key` wins.', [
        { attr: '#apiKey' },
      ]),
      name: text(
        'Name',
        'The name of the header, the parameter or the cookie; in a body, keys with dots between.',
        ['X-Api-Key', 'api_key', 'auth.key'],
      ),
      in: keyInSchema,
      prefix: kind({ type: 'string', default: '' })(
        'Prefix',
        'A text before the key, with its space if it needs one.',
        ['Token '],
      ),
    },
    examples: [{ type: 'apiKey', name: 'X-Api-Key', '#key': '0f3b' }],
  }),

  create(node, context) {
    const name = requiredText(node, ['name'], context);
    const value =
      (optionalText(node, ['prefix'], context) ?? '') + requiredText(node, ['#key', 'key'], context);
    const place = keyInOf(node, context.at);
    if (place === 'header' || place === 'cookie') headerText(value, `${context.at}.#key`);
    const put = putKey(place, name, context.at);
    return signing((request) => put(request, value));
  },
};
