import type { Env } from '../../lib/env.ts';
import type { Keys } from '../../lib/encryption/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Connection } from './connection.ts';
import type { OnProgress, StorageClient } from './index.ts';
import type { BeforeChange } from './client-options.ts';

export interface OpenOptions {
  /**
   * A folder, the address of a service (`http://…`, `https://…`), or a PostgreSQL database (`postgres://…`); with `lake:`
   * in front of a folder or a database, its tables are in a lake.
   */
  readonly storage: string;
  /** `KBC_TOKEN` is the token for an address, `KBC_RUNID` the run that files, jobs and events belong to. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Id of a development branch; the default branch when undefined. */
  readonly branch?: string | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
  /** Purpose of opening it, for use after “to”, such as `push the tables`. */
  readonly purpose: string;
  /** See {@link StorageClientOptions.beforeChange}; {@link OpenStorage.steady} does not wait for it. */
  readonly beforeChange?: BeforeChange | undefined;
  /** A folder that is no storage yet is refused, and not made one. Default: false. */
  readonly mustExist?: boolean | undefined;
  /** Is told of the token. */
  readonly secrets?: Secrets | undefined;
  readonly env?: Env | undefined;
  /**
   * How long a service may take for its first answer (default 20,000), a database may be away (10,000), or others may
   * hold a folder (5,000).
   */
  readonly patienceMs?: number | undefined;
}

/** Identity and rights of the token. */
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
  /** Keys that a folder stores for its `#` values; undefined for anything else, and for a folder without any. */
  readonly encryptionKeys: Keys | undefined;
  /** True when a service answers there that continues when this process ends. */
  readonly isServed: boolean;
  /** The same client, for what must be stored though the signal was aborted. */
  readonly steady: StorageClient;
  /** Ends the service when it runs in this process. To be called once, whatever happened. */
  close(): Promise<void>;
}
