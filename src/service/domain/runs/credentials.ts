import type { LineageReceiver } from './lineage-receiver.ts';
import { RUNNER_VARIABLE } from './runner-variable.ts';

/** Credentials of a run: the first message of its runner over the channel to its process. */
export interface RunCredentials {
  readonly kind: 'gex credentials';
  /** Id of the run. */
  readonly run: string;
  /** The token of the run. */
  readonly token: string;
  /** The keys of encrypted values, as a key file has them. */
  readonly keys: string;
  /** Words why the doubt of the run before is accepted: it pushes what that one held back. */
  readonly accepting?: string | undefined;
  /** Receiver of OpenLineage events, where the service has one. */
  readonly lineage?: LineageReceiver | undefined;
}

/** Waits for the credentials, when a runner started this process; undefined for any other. */
export async function receiveCredentials(): Promise<RunCredentials | undefined> {
  const { channel, env } = process;
  if (env[RUNNER_VARIABLE] !== '1' || channel === undefined) return undefined;
  // A run whose runner is gone has lost its rights, and another runner may do it already.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const credentials = await new Promise<RunCredentials>((resolve) => {
    const listen = (message: unknown): void => {
      if (!isCredentials(message)) return;
      process.off('message', listen);
      resolve(message);
    };
    process.on('message', listen);
  });
  // The listener for the end alone would keep the process.
  channel.unref();
  return credentials;
}

function isCredentials(message: unknown): message is RunCredentials {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    message.kind === 'gex credentials' &&
    'run' in message &&
    typeof message.run === 'string' &&
    'token' in message &&
    typeof message.token === 'string' &&
    'keys' in message &&
    typeof message.keys === 'string'
  );
}
