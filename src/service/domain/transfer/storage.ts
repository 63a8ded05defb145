import type { Meta } from '../../stores/metadata/database.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';
import type { TableEngine, TableReader } from '../../stores/tables/engine.ts';

/** A storage that does not change while it is copied: nobody runs over it, or it is seen as it is at one moment. */
export interface SourceStorage {
  /** Name in messages, without secrets. */
  readonly name: string;
  readonly meta: Meta;
  readonly engine: TableReader;
  readonly objects: ObjectReader;
  /** Secret of a folder, from which keys and a token are derived; undefined when there is none. */
  readonly secret: Uint8Array | undefined;
  /** The token that is made of the secret of a folder; undefined where there is none. */
  readonly localToken: number | undefined;
  /** Id of the key that `#` values are encrypted with, where it is known. */
  readonly encryptionKey: string | undefined;
  close(): Promise<void>;
}

export type ObjectReader = Pick<ObjectStore, 'bucket' | 'head' | 'list' | 'read' | 'root'>;

/** A storage that no service runs over: a folder, or a database with an object store. */
export interface OpenedStorage extends SourceStorage {
  readonly engine: TableEngine;
  readonly objects: ObjectStore;
}

/** Progress: some rows of the metadata, of a table, or bytes of a file, were copied or compared. */
export interface CopyProgress {
  readonly work: 'compare' | 'copy';
  readonly what: 'file' | 'metadata' | 'table';
  /** Name of the table or the file. */
  readonly name: string;
  /** Number of the table or file, and of how many. */
  readonly number?: number;
  readonly count?: number;
}

export interface Moving {
  readonly from: SourceStorage;
  readonly to: OpenedStorage;
  /** The source is a copy of a moment at which work was being done: it is done to its end over the target. */
  readonly mayHaveWork?: boolean;
  readonly signal: AbortSignal;
  readonly told: (told: CopyProgress) => void;
}
