import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeKeyFile } from '../../lib/encryption/key-file.ts';
import { joinKeys, keysFrom, readKeyFile, type Keys } from '../../lib/encryption/keys.ts';
import type { Env } from '../../lib/env.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import {
  getKey,
  isObject,
  objectOf,
  parseExact,
  toJsonText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { writeFileDurably } from '../../engine/sink/atomic.ts';
import { guard } from '../../engine/sink/file-error.ts';
import { damaged, loginIn, sealer, withLogin } from './kept-json.ts';

export interface FolderLoginsOptions {
  readonly dataFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly env: Env;
  readonly log: Log;
  /** True where rows beside each other may refresh at the same time. */
  readonly isShared?: boolean | undefined;
  /** Called before the first write: takes the folder for this process alone. */
  readonly beforeWrite?: (() => void) | undefined;
}

/**
 * Scope that the logins of a folder are encrypted for: the folder and its key belong together, whatever project and
 * component the environment names.
 */
const SCOPE = { project: 'local', component: 'logins' };

/**
 * Logins in `in/logins.json` of the data folder, for all rows: `state.json` is a row's, and is a new one only after a
 * run that succeeded. They are encrypted with the key of the environment, or else with one of the folder's own,
 * `in/logins.key`; both files are readable by their owner alone.
 */
export function folderLogins(options: FolderLoginsOptions): LoginKeeper {
  const { dataFolder, environment, env, log, isShared = false, beforeWrite } = options;
  const file = path.join(dataFolder, 'in', 'logins.json');
  const keyFile = path.join(dataFolder, 'in', 'logins.key');
  let isBegun = false;

  const keys = (): Keys => {
    const own = existsSync(keyFile) ? readKeyFile(keyFile) : [];
    return joinKeys(keysFrom(environment), own);
  };
  const keysToWrite = (): Keys => {
    const known = keys();
    if (known.length > 0) return known;
    guard(keyFile, () => mkdirSync(path.dirname(keyFile), { recursive: true }));
    const made = guard(keyFile, () => makeKeyFile(keyFile, env));
    log.info(
      `Logins are kept encrypted in ${file}. Their key is in ${keyFile}: keep both, or name a key with GEX_ENCRYPTION_KEY_FILE`,
    );
    return [made];
  };

  return {
    place: file,
    isShared,
    isLasting: true,
    async read(name) {
      const logins = readLogins(file);
      return await Promise.resolve(loginIn(logins, name, sealer(keys(), SCOPE, env), file));
    },
    async write(name, login) {
      if (!isBegun) beforeWrite?.();
      isBegun = true;
      const { seal } = sealer(keysToWrite(), SCOPE, env);
      const logins = withLogin(readLogins(file), name, login, {
        seal,
        savedAt: Math.floor(env.now() / 1000),
      });
      writeFileDurably(file, toJsonText(objectOf([['logins', logins]])), 0o600);
      await Promise.resolve();
    },
  };
}

function readLogins(file: string): AnyObject {
  if (!existsSync(file)) return {};
  let value: Json;
  try {
    value = parseExact(readFileSync(file, 'utf8'));
  } catch {
    throw damaged(file);
  }
  const logins = isObject(value) ? getKey(value, 'logins') : undefined;
  if (!isObject(logins)) throw damaged(file);
  return logins;
}
