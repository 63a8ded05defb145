import type { Env } from '../../lib/env.ts';
import type { AnyObject, Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Connection } from '../../storage/client/connection.ts';
import type { OnProgress } from '../../storage/client/transfer/progress.ts';

/** Origin of a run: names the default bucket, and is written beside tables and buckets. */
export interface Origin {
  readonly component: string;
  /** Id of the configuration; a local one without an id goes by the name of its folder. */
  readonly configuration: string;
  /** Absent when the configuration has no rows. */
  readonly row?: string | undefined;
  /** Id of the development branch; absent in the default branch. */
  readonly branch?: string | undefined;
  /** True when configuration and state are kept by the service, and not in the data folder. */
  readonly isStored: boolean;
}

/** Context that both mappings share. */
export interface MappingContext {
  readonly connection: Connection;
  readonly origin: Origin;
  /** `storage.input` or `storage.output` of the effective configuration; empty when there is none. */
  readonly mapping: AnyObject;
  readonly env: Env;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

/** Files that get tags when the row has succeeded (`processed_tags`). */
export interface ProcessedFile {
  readonly fileId: number;
  readonly tags: readonly string[];
}

/** Result of the input mapping that is needed at the end of the row. */
export interface Inputs {
  /** The `storage` part of the state to keep; undefined when there is nothing to keep. */
  readonly state: Json | undefined;
  readonly processed: readonly ProcessedFile[];
  readonly tables: number;
  readonly files: number;
}

/** One table that was pushed. */
export interface PushedTable {
  /** Name in `out/tables`. */
  readonly source: string;
  readonly destination: string;
  readonly incremental: boolean;
  /** Rows that were loaded. */
  readonly rows: number;
  /** Pushed by an earlier attempt. */
  readonly wasDone: boolean;
}

export interface PushedFile {
  /** Name in `out/files`. */
  readonly source: string;
  readonly fileId: number;
  readonly wasDone: boolean;
}

export interface Pushed {
  readonly tables: readonly PushedTable[];
  readonly files: readonly PushedFile[];
}
