import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { keysFrom } from '../../lib/encryption/keys.ts';
import { scopeFrom } from '../../lib/encryption/scope.ts';
import type { Env } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import { isObject, parseExact, toJsonText, type AnyObject, type Json } from '../../lib/json/index.ts';
import { writeFileDurably } from '../../engine/sink/atomic.ts';
import { lateSealer, newerLogins, sealer } from './kept-json.ts';
import { loginsIn, stateLogins, withLogins, withoutLogins } from './state-logins.ts';

export interface ComponentLoginsOptions {
  readonly dataFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly env: Env;
}

/** Keeps logins, and puts them into the state that a run leaves. */
export interface ComponentLogins extends LoginKeeper {
  readonly finishState: (state: AnyObject) => AnyObject;
}

/**
 * Logins in the state of a container: `logins` of `in/state.json`, and of `out/state.json` as soon as there is a new one,
 * whatever becomes of the run. Whoever starts the container keeps that file. Without a key the tokens stand there as the
 * plain values of a `#` key, which the platform encrypts when it stores the state.
 */
export function componentLogins({ dataFolder, environment, env }: ComponentLoginsOptions): ComponentLogins {
  const inFile = path.join(dataFolder, 'in', 'state.json');
  const outFile = path.join(dataFolder, 'out', 'state.json');
  const seals = lateSealer(() => {
    const keys = keysFrom(environment);
    const { seal, open } = sealer(keys, scopeFrom(environment), env);
    return { open, seal: keys.length === 0 ? (text) => text : seal };
  });
  const known = (): AnyObject =>
    newerLogins(loginsIn(stateAt(outFile), outFile) ?? {}, loginsIn(stateAt(inFile), inFile) ?? {});
  const keeper = stateLogins({
    place: outFile,
    isShared: false,
    sealer: seals,
    env,
    readState: async () => await Promise.resolve(withLogins({}, known())),
    writeLogins: async (logins) => {
      const state = existsSync(outFile) ? stateAt(outFile) : withoutLogins(stateAt(inFile));
      writeFileDurably(outFile, toJsonText(withLogins(state, logins)), 0o666);
      await Promise.resolve();
    },
  });
  return {
    ...keeper,
    finishState: (state) => {
      const logins = known();
      return Object.keys(logins).length === 0 ? state : withLogins(state, logins);
    },
  };
}

/**
 * Makes logins read-only for an action of a container, which leaves nothing behind: a kept login is used, and none is
 * refreshed.
 */
export function readOnlyLogins(keeper: LoginKeeper): LoginKeeper {
  return {
    ...keeper,
    write: async () => {
      await Promise.resolve();
      throw new RunError('auth.notKept', 'The login is to be refreshed, and an action keeps nothing of it.', {
        hint: 'Run the configuration first: a run keeps the login, and actions use it while it holds.',
      });
    },
  };
}

/** Reads a state; empty if it is missing or no state, which the run itself reports. */
function stateAt(file: string): AnyObject {
  try {
    const value: Json = parseExact(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
