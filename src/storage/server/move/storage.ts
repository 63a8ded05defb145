import type { Meta } from '../meta/database.ts';
import type { ObjectStore } from '../objects/store.ts';
import type { TableEngine } from '../tables/engine.ts';

/** A storage that no service runs over: a folder, or a database with an object store. */
export interface OpenedStorage {
  /** As people know it, without what is secret in it. */
  readonly name: string;
  readonly meta: Meta;
  readonly engine: TableEngine;
  readonly objects: ObjectStore;
  /** That of a folder, which keys and a token are made of; undefined where there is none. */
  readonly secret: Uint8Array | undefined;
  /** The token that is made of the secret of a folder; undefined where there is none. */
  readonly localToken: number | undefined;
  /** Id of the key that `#` values are encrypted with, where it is known. */
  readonly encryptionKey: string | undefined;
  close(): Promise<void>;
}

/** How far it is: some rows of the metadata, of a table, or bytes of a file, were copied or compared. */
export interface Told {
  readonly work: 'compare' | 'copy';
  readonly what: 'file' | 'metadata' | 'table';
  /** Of the table or the file. */
  readonly name: string;
  /** Of it, and of how many. */
  readonly number?: number;
  readonly count?: number;
}

export interface Moving {
  readonly from: OpenedStorage;
  readonly to: OpenedStorage;
  readonly signal: AbortSignal;
  readonly told: (told: Told) => void;
}
