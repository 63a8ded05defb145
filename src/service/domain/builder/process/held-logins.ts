import type { Env } from '../../../../lib/env.ts';
import { encodeExact, isObject, parseExact } from '../../../../lib/json/index.ts';
import { sealer } from '../../../../runner/logins/kept-json.ts';
import { stateLogins, withLogins } from '../../../../runner/logins/state-logins.ts';
import type { HeldLogins } from '../builder-types.ts';
import { keysIn } from './keys-in.ts';

/**
 * Keeps logins for a page that holds them, encrypted: `onChange` is told of each change before it is used.
 *
 * @throws {ExtractorError} from its functions, for logins that were damaged or encrypted for something else
 */
export function heldLogins(
  { logins, keys, scope }: HeldLogins,
  onChange: (logins: string) => void,
  env: Env,
): ReturnType<typeof stateLogins> {
  const given = parseExact(logins === '' ? '{}' : logins);
  let held = isObject(given) ? given : {};
  const { project, component } = scope;
  return stateLogins({
    place: 'the logins of this page',
    isShared: false,
    sealer: sealer(keysIn(keys), { project, component }, env),
    env,
    readState: async () => await Promise.resolve(withLogins({}, held)),
    async writeLogins(next) {
      held = next;
      onChange(encodeExact(next));
      await Promise.resolve();
    },
  });
}
