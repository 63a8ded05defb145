import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isObject, isScalar, keysOf, toText } from '../../../lib/json/index.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import { nearest } from '../../../lib/suggest.ts';
import type { AuthType } from './auth.ts';

/**
 * One of several authentications, by a setting:
 * ```
 * {"type": "choice", "choose": {"attr": "login"},
 *  "from": {"key": {"type": "bearer", "#token": {"attr": "#key"}}, "oauth": {"type": "oauth20.refreshToken", …}}}
 * ```
 * With `"login": "key"` in `config` the first is used. Only the one that is chosen is made; `none` may be among them.
 */
export const choice: AuthType = {
  type: 'choice',
  options: {
    type: 'object',
    title: 'Choice',
    description: 'One of several authentications, by a setting.',
    required: ['type', 'choose', 'from'],
    properties: {
      type: { const: 'choice', title: 'Type', description: 'One of several.', examples: ['choice'] },
      choose: {
        type: ['string', 'number', 'boolean', 'object'],
        title: 'Which one',
        description: 'The name of one of `from`, or a function that gives it (it sees `attr`).',
        examples: [{ attr: 'login' }],
      },
      from: {
        type: 'object',
        minProperties: 1,
        title: 'What there is',
        description: 'Authentications by their names. One without `type` is none.',
        additionalProperties: { $ref: '#/definitions/authentication' },
        examples: [{ token: { type: 'bearer', '#token': { attr: '#token' } } }],
      },
    },
    examples: [
      {
        type: 'choice',
        choose: { attr: 'login' },
        from: {
          token: { type: 'bearer', '#token': { attr: '#token' } },
          password: { type: 'basic' },
        },
      },
    ],
  },

  create(node, context) {
    const from = getKey(node, 'from');
    const written = getKey(node, 'choose');
    const at = `${context.at}.choose`;
    if (!isObject(from) || written === undefined)
      throw new ConfigError(
        'config.invalid',
        'A choice needs “choose”, and “from” with the authentications.',
        {
          where: { path: context.at },
          hint: 'Write for example "choose": {"attr": "login"}, "from": {"token": {"type": "bearer", …}}.',
        },
      );
    const chosen = context.evaluate(written, { attr: context.attributes }, at);
    const name = isScalar(chosen) ? toText(chosen) : undefined;
    const found = name === undefined ? undefined : getKey(from, name);
    if (name === undefined || !isObject(found)) {
      const names = keysOf(from);
      const near = name === undefined ? undefined : nearest(name, names);
      throw new ConfigError(
        'config.invalid',
        `“choose” gives ${name === undefined ? kindOf(chosen) : `“${name}”`}, and there is no such authentication in “from”.`,
        {
          where: { path: at },
          hint: `${near === undefined ? '' : `Did you mean "${near}"? `}There is ${names.map((each) => `"${each}"`).join(', ')}.`,
        },
      );
    }
    return context.nested(found, `${context.at}.from.${name}`);
  },
};
