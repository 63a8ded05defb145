import { parseConfig } from '../../../../engine/config/index.ts';
import { systemEnv } from '../../../../lib/env.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import {
  authorizationAddress,
  finishAuthorization,
  keptLoginsOf,
  type RowLogin,
} from '../../../../runner/login/authorize.ts';
import type { AskedForLogins, AskedToLogIn, Said } from '../builder-types.ts';
import { heldLogins } from './held-logins.ts';
import { keysIn } from './keys-in.ts';

interface World {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

/**
 * Names the address at which a person logs in, or exchanges what the browser came back with.
 *
 * @throws {ExtractorError} with the words of the provider
 */
export async function doLogin(asked: AskedToLogIn, world: World): Promise<Said> {
  const { answer, row, redirectUri, state, verifier } = asked;
  world.secrets.add(verifier);
  let logins = '{}';
  const options = { ...shared(asked, world, (next) => (logins = next)), row, signal: world.signal };
  const authorizing = { redirectUri, state, verifier };
  if (answer === undefined) return { opened: { address: await authorizationAddress(options, authorizing) } };
  const { hasRefreshToken, renewAt } = await finishAuthorization(options, authorizing, answer);
  return { loggedIn: { logins, hasRefreshToken, renewAt } };
}

/** Lists the logins of a configuration that are kept between runs. */
export async function listLogins(asked: AskedForLogins, world: World): Promise<readonly RowLogin[]> {
  return await keptLoginsOf(shared(asked, world, () => undefined));
}

function shared(
  { document, keys, scope }: AskedForLogins | AskedToLogIn,
  { log, secrets }: World,
  onLogins: (logins: string) => void,
) {
  return {
    dataFolder: '.',
    document: parseConfig(document),
    environment: {},
    encryptionKeys: keysIn(keys),
    encryptionScope: scope,
    logins: heldLogins({ logins: '', keys, scope }, onLogins, systemEnv),
    log,
    secrets,
  };
}
