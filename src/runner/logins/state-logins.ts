import type { Env } from '../../lib/env.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import { entriesOf, getKey, isObject, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import { damaged, loginIn, withLogin, type Sealer } from './kept-json.ts';

/** The key of a state that has the logins. */
const LOGINS = 'logins';

/**
 * Removes the logins from a state, as the engine needs it: with logins in it, each run would have other inputs, and its
 * recording would contain them.
 */
export function withoutLogins(state: AnyObject): AnyObject {
  return getKey(state, LOGINS) === undefined
    ? state
    : objectOf(entriesOf(state).filter(([key]) => key !== LOGINS));
}

export function withLogins(state: AnyObject, logins: AnyObject | undefined): AnyObject {
  if (logins === undefined) return state;
  return objectOf(new Map<string, Json>([...entriesOf(state), [LOGINS, logins]]));
}

/** Returns the logins in a state; undefined when there are none. */
export function loginsIn(state: AnyObject, place: string): AnyObject | undefined {
  const logins = getKey(state, LOGINS);
  if (logins === undefined || isObject(logins)) return logins;
  throw damaged(place);
}

export interface StateLoginsOptions {
  /** For messages. */
  readonly place: string;
  readonly isShared: boolean;
  readonly sealer: Sealer;
  readonly env: Pick<Env, 'now'>;
  readonly readState: () => Promise<AnyObject>;
  /** On return it is durable. */
  readonly writeLogins: (logins: AnyObject) => Promise<void>;
}

/** Logins under the key `logins` of a state. */
export function stateLogins(options: StateLoginsOptions): LoginKeeper {
  const { place, isShared, sealer, env, readState, writeLogins } = options;
  const read = async (): Promise<AnyObject> => loginsIn(await readState(), place) ?? {};
  return {
    place,
    isShared,
    isLasting: true,
    read: async (name) => loginIn(await read(), name, sealer, place),
    write: async (name, login) =>
      await writeLogins(
        withLogin(await read(), name, login, { ...sealer, savedAt: Math.floor(env.now() / 1000) }),
      ),
  };
}
