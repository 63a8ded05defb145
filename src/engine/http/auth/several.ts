import { definition } from '../../../lib/option.ts';
import { kind, object, typeNamed } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isList, isObject } from '../../../lib/json/index.ts';
import type { SendWrapper } from '../../shared/message.ts';
import type { AuthType } from './auth.ts';

/**
 * Several authentications at once, in their order: a key in a header and a signature in the query, a token of a login
 * and a subscription key. What a later one sees has what the earlier ones added.
 */
export const several: AuthType = {
  type: 'several',
  options: object('Several at once', 'Several authentications at once, in their order.', {
    required: ['type', 'of'],
    properties: {
      type: typeNamed('several', 'Several at once.'),
      of: kind({ type: 'array', minItems: 1, items: definition('authentication') })(
        'Which',
        'The authentications. A later one sees what the earlier ones added to the request.',
        [[{ type: 'basic' }, { type: 'apiKey', name: 'X-Subscription', '#key': { attr: '#key' } }]],
      ),
    },
    examples: [
      {
        type: 'several',
        of: [{ type: 'basic' }, { type: 'apiKey', name: 'X-Subscription', '#key': { attr: '#key' } }],
      },
    ],
  }),

  create(node, context): SendWrapper {
    const of = getKey(node, 'of');
    if (!isList(of) || of.length === 0 || !of.every((each) => isObject(each)))
      throw new ConfigError('config.invalid', '“of” must be a list of authentications.', {
        where: { path: `${context.at}.of` },
        hint: 'Write for example "of": [{"type": "basic"}, {"type": "apiKey", "name": "X-Key", "#key": "…"}].',
      });
    const wrappers = of.map((each, i) => context.nested(each, `${context.at}.of[${i}]`));
    return (next) => wrappers.reduceRight((inner, wrapper) => wrapper(inner), next);
  },
};
