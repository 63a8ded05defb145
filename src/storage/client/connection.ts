import type { StorageClient } from './client.ts';

/** The storage that a run is connected to. */
export interface Connection {
  readonly client: StorageClient;
  /**
   * Client of the default branch, if the connection is to a development branch: tables that the branch does not have
   * are read from production.
   */
  readonly production?: StorageClient | undefined;
  /** For people, and for opening it again: the folder or the address, without a password. */
  readonly address: string;
  /** Tells projects apart, whatever address they are reached by: `<project id>@<created>`. */
  readonly project: string;
  /**
   * A folder of this machine, or a database that this process works on itself: transfers are not compressed, and an
   * uploaded file does not outlive its load, since the disk has its content in `out/` already.
   */
  readonly isLocal: boolean;
}
