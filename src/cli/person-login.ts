import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../lib/env.ts';
import { silentLog } from '../lib/log.ts';
import { toJsonText, type AnyObject } from '../lib/json/index.ts';
import type { LoginKeeper } from '../engine/http/auth/index.ts';
import { folderLogins } from '../runner/logins/folder-logins.ts';
import type { Io } from './command.ts';
import { readAddress, showLogin } from './login.ts';

interface PersonLoginOptions {
  /** The folder of the configuration: the login is kept there, for runs. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly io: Io;
}

/**
 * Lets a person log in for a configuration that is not written yet.
 *
 * @throws {ExtractorError} as of `gex login`
 */
export async function personLogin(
  configuration: AnyObject,
  { folder, environment, io }: PersonLoginOptions,
): Promise<LoginKeeper> {
  const { login } = await import('../runner/login.ts');
  const logins = folderLogins({ dataFolder: folder, environment, env: systemEnv, log: silentLog });
  const draft = mkdtempSync(path.join(tmpdir(), 'gex-login-'));
  try {
    writeFileSync(path.join(draft, 'config.json'), toJsonText(configuration), { mode: 0o600 });
    const made = await login({
      dataFolder: draft,
      environment,
      logins,
      show: (address, { isPasted }) => showLogin(address, isPasted, !io.isTerminal, io),
      pasted: readAddress,
      log: silentLog,
      secrets: io.secrets,
      signal: io.signal,
      command: 'gex init',
    });
    for (const { place } of made) io.note(`Logged in. The login is kept encrypted in ${place}.`);
    return logins;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
