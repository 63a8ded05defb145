import { StorageError } from '../../lib/errors.ts';
import { StorageClient, type StorageClientOptions, type Token } from '../../storage/client/index.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';
import { trimEnd } from '../../lib/trim.ts';

/** Address and token of a service. */
export interface ServiceReach {
  readonly url: string;
  readonly token: string;
  readonly fetch?: typeof fetch;
}

export function clientOf(
  reach: ServiceReach,
  options: OpenOptions,
  more: Partial<StorageClientOptions> = {},
): StorageClient {
  const { branch, environment, log, signal, onProgress, beforeChange, secrets, env } = options;
  secrets?.add(reach.token);
  const { KBC_RUNID: run = '' } = environment ?? process.env;
  const runId = run === '' ? undefined : run;
  const given = { branch, environment, log, signal, onProgress, beforeChange, env, runId };
  return new StorageClient({ ...reach, ...given, ...more });
}

/** Returns a client without the branch, if there is one. It needs no closing: no files go through it. */
export function productionOf(reach: ServiceReach, options: OpenOptions): StorageClient | undefined {
  const { branch } = options;
  return branch === undefined || branch === 'default'
    ? undefined
    : clientOf(reach, { ...options, branch: undefined });
}

/** Returns a client that continues when the signal is aborted. It needs no closing: no files go through it. */
export function steadyOf(reach: ServiceReach, options: OpenOptions): StorageClient {
  return clientOf(reach, { ...options, signal: new AbortController().signal, beforeChange: undefined });
}

const FIRST_RETRIES = 2;
const PATIENCE_MS = 20_000;

/** Asks the service about the token, with a short timeout: an address is more often wrong than busy. */
export async function verify(
  reach: ServiceReach,
  options: OpenOptions,
): Promise<Pick<OpenStorage, 'project' | 'token'>> {
  const { signal, patienceMs = PATIENCE_MS } = options;
  const late = AbortSignal.timeout(patienceMs);
  const client = clientOf(reach, options, {
    signal: AbortSignal.any([signal, late]),
    retry: { maxRetries: FIRST_RETRIES },
  });
  try {
    return described(await client.tokens.verify());
  } catch (error) {
    if (error instanceof StorageError && NO_STORAGE.has(error.code))
      throw noStorageAt(shown(reach.url), error);
    if (!late.aborted || signal.aborted) throw error;
    throw new StorageError(
      'storage.unreachable',
      `${shown(reach.url)} has not answered within ${patienceMs / 1000} seconds.`,
      { hint: 'Check the address, and whether the storage service runs there.', cause: error },
    );
  }
}

/** Error codes that show that an address is no storage service, which always knows the owner of a token. */
const NO_STORAGE: ReadonlySet<string> = new Set([
  'storage.notFound',
  'storage.refused',
  'storage.unsupported',
]);

function noStorageAt(address: string, cause: StorageError): StorageError {
  const status = cause.status === undefined ? '' : ` with ${cause.status}`;
  return new StorageError(
    'storage.unexpected',
    `What answers at ${address} is no storage service: it answered tokens/verify${status}.`,
    { hint: 'Check the address: “gex serve” prints that of the API when it starts.', cause },
  );
}

function described(token: Token): Pick<OpenStorage, 'project' | 'token'> {
  const { owner } = token;
  if (owner === undefined)
    throw new StorageError(
      'storage.unexpected',
      'The storage service does not say which project the token is of.',
      {
        hint: 'Check that the address is that of a storage service, and its version.',
      },
    );
  return {
    project: `${owner.id}@${owner.created}`,
    token: {
      id: token.id,
      description: token.description,
      projectId: String(owner.id),
      projectName: owner.name,
      isMaster: token.isMasterToken,
      canManageBuckets: token.canManageBuckets,
    },
  };
}

/** Returns an address without its credentials, query and fragment. */
export function shown(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : trimEnd(url.origin + url.pathname, '/');
}
