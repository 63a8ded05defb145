import { definition } from '../../../lib/option.ts';
import { kind, object, typeNamed } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isList, isObject, isScalar, keysOf, objectOf, toText } from '../../../lib/json/index.ts';
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
  options: object('Choice', 'One of several authentications, by a setting.', {
    required: ['type', 'choose', 'from'],
    properties: {
      type: typeNamed('choice', 'One of several.'),
      choose: kind({ type: ['string', 'number', 'boolean', 'object'] })(
        'Which one',
        'The name of one of `from`, or a function that gives it (it sees `attr`).',
        [{ attr: 'login' }],
      ),
      from: kind({ type: 'object', minProperties: 1 })(
        'What there is',
        'Authentications by their names. One without `type` is none.',
        {
          additionalProperties: definition('authentication'),
          examples: [{ token: { type: 'bearer', '#token': { attr: '#token' } } }],
        },
      ),
    },
    examples: [
      {
        type: 'choice',
        choose: { attr: 'login' },
        from: { token: { type: 'bearer', '#token': { attr: '#token' } }, password: { type: 'basic' } },
      },
    ],
  }),

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
    const named = name === undefined ? undefined : getKey(from, name);
    // an empty object of a configuration is an empty list
    const found = isList(named) && named.length === 0 ? objectOf([]) : named;
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
