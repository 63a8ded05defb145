import { text } from 'node:stream/consumers';
import { systemEnv } from '../../../../lib/env.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import { inspect } from '../inspect.ts';
import type { BuilderTask, Said, SentRequest } from '../builder-types.ts';
import { explore } from './explore.ts';
import { keysIn } from './keys-in.ts';
import { toldError } from './told-error.ts';
import { tryOut } from './try.ts';

export interface WorkshopIo {
  readonly print: (line: string) => unknown;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly log: (tell: (text: string) => void) => Log;
}

/** Runs the task of the line on stdin, and writes its result to stdout. It never fails. */
export async function serveOnce({ print, secrets, signal, log }: WorkshopIo): Promise<void> {
  const say = (said: Said): void => void print(lineOf(said, secrets));
  const onStep = (step: string): void => say({ step });
  try {
    // Written by the service that started this process.
    const asked = JSON.parse(await text(process.stdin)) as BuilderTask;
    const { environment } = 'environment' in asked ? asked : {};
    for (const value of Object.values(environment ?? {})) secrets.add(value);
    const onSent = (sent: SentRequest): void => {
      if (environment !== undefined) say({ sent });
    };
    const onLogins = (logins: string): void => say({ logins });
    if (asked.kind === 'explore') {
      say({ found: await explore(asked, { env: systemEnv, secrets, signal, onStep, onSent, onLogins }) });
      return;
    }
    if (asked.kind === 'inspect') {
      say({ problems: await inspect(asked.text, keysIn(asked.keys), asked.scope, environment) });
      return;
    }
    if (asked.kind === 'import') {
      const { importAsked } = await import('./import.ts');
      say({ imported: await importAsked(asked) });
      return;
    }
    if (asked.kind === 'login' || asked.kind === 'logins') {
      const { doLogin, listLogins } = await import('./login.ts');
      const world = { log: log(onStep), secrets, signal };
      say(asked.kind === 'login' ? await doLogin(asked, world) : { listed: await listLogins(asked, world) });
      return;
    }
    const { folder } = asked;
    say({ tried: await tryOut(asked, { log: log(onStep), secrets, signal, folder, onSent, onLogins }) });
  } catch (error) {
    say({ error: toldError(error, secrets) });
  }
}

/**
 * Keys whose values are not redacted. The configuration still has its secrets: the service encrypts them. In answers
 * and rows, which are JSON, they are hidden already; in logins they are encrypted. The address of a login names the
 * client, whatever it is called in the configuration.
 */
const AS_THEY_ARE = new Set(['address', 'answer', 'configuration', 'logins', 'recording', 'sample']);

function lineOf(said: Said, secrets: Secrets): string {
  return JSON.stringify(said, (key, value: unknown) =>
    typeof value === 'string' && !AS_THEY_ARE.has(key) ? secrets.redact(value) : value,
  );
}
