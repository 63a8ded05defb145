import { RunError, StorageError } from '../errors.ts';
import type { Env } from '../env.ts';
import type { Keys } from '../encryption/index.ts';
import type { Log } from '../log.ts';
import type { Connection } from '../mapping/nouns.ts';
import type { Secrets } from '../secrets.ts';
import {
  StorageClient,
  type OnProgress,
  type StorageClientOptions,
  type Token,
} from '../storage/client/index.ts';

export interface OpenOptions {
  /** A folder, or the address of a service (`http://…`, `https://…`). */
  readonly storage: string;
  /** `KBC_TOKEN` is the token for an address. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Id of a development branch; the default branch when undefined. */
  readonly branch?: string | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
  /** What it is opened for, behind “to”, such as `push the tables`. */
  readonly purpose: string;
  /** A folder that is no storage yet is refused, and not made one. Default: false. */
  readonly mustExist?: boolean | undefined;
  /** Is told of the token. */
  readonly secrets?: Secrets | undefined;
  readonly env?: Env | undefined;
  /** How long a service may take for its first answer (default 20,000), or others may hold a folder (5,000). */
  readonly patienceMs?: number | undefined;
}

/** What the token is and may do. */
export interface TokenInfo {
  readonly id: string;
  readonly description: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly isMaster: boolean;
  readonly canManageBuckets: boolean;
}

export interface OpenStorage extends Connection {
  readonly token: TokenInfo;
  /** Those that a folder keeps for its `#` values; undefined for an address, and for a folder without any. */
  readonly encryptionKeys: Keys | undefined;
  /** Ends the service when it runs in this process. To be called once, whatever happened. */
  close(): Promise<void>;
}

/** How to reach a service. */
export interface Reach {
  readonly url: string;
  readonly token: string;
  readonly fetch?: typeof fetch;
}

/**
 * Connects with a storage, and makes sure of it: the service at an address, with the token of `KBC_TOKEN`; or a folder,
 * by the service that runs over it, else by one in this process.
 *
 * @throws {StorageError} `storage.unauthorized`, `storage.unreachable`, `storage.unexpected`
 * @throws {RunError} `run.locked` for a folder that another command holds, `command.invalid` for what is no storage
 */
export async function openStorage(options: OpenOptions): Promise<OpenStorage> {
  const { storage } = options;
  if (/^https?:\/\//i.test(storage)) return await openAddress(options);
  if (/^\w+:\/\//.test(storage) || /^[\w.-]+:\d+(?:\/|$)/.test(storage))
    throw new RunError('command.invalid', `“${storage}” is neither a folder nor the address of a service.`, {
      hint: 'An address begins with http:// or https://, such as http://127.0.0.1:8080.',
    });
  const { openFolder } = await import('./storage-folder.ts');
  return await openFolder(options);
}

async function openAddress(options: OpenOptions): Promise<OpenStorage> {
  const { storage, environment, log, purpose } = options;
  const address = shown(storage);
  const token = (environment['KBC_TOKEN'] ?? '').trim();
  if (token === '')
    throw new StorageError(
      'storage.unauthorized',
      `There is no token for the storage service at ${address}.`,
      {
        hint: 'Set the environment variable KBC_TOKEN to the token that “gex serve” printed at its first start.',
      },
    );
  const reach = { url: storage, token };
  const verified = await verify(reach, options);
  log.debug(`Using the storage service at ${address} to ${purpose}`);
  const client = clientOf(reach, options);
  return {
    client,
    production: productionOf(reach, options),
    address,
    isLocal: false,
    ...verified,
    encryptionKeys: undefined,
    close: () => Promise.resolve(client.close()),
  };
}

/** Without what an address may hold beside the place. */
function shown(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : (url.origin + url.pathname).replace(/\/+$/, '');
}

export function clientOf(
  reach: Reach,
  options: OpenOptions,
  more: Partial<StorageClientOptions> = {},
): StorageClient {
  const { branch, log, signal, onProgress, secrets, env } = options;
  secrets?.add(reach.token);
  return new StorageClient({ ...reach, branch, log, signal, onProgress, env, ...more });
}

/** A client without the branch, if there is one. It needs no closing: no files go through it. */
export function productionOf(reach: Reach, options: OpenOptions): StorageClient | undefined {
  const { branch } = options;
  return branch === undefined || branch === 'default'
    ? undefined
    : clientOf(reach, { ...options, branch: undefined });
}

const FIRST_RETRIES = 2;
const PATIENCE_MS = 20_000;

/** Asks the service about the token: with little patience, since an address is more often wrong than busy. */
export async function verify(
  reach: Reach,
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

/** A storage service always knows whose token it was given. */
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
