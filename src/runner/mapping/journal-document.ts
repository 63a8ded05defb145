import type { Json } from '../../lib/json/index.ts';
import type { Origin, ProcessedFile } from './mapping-types.ts';

export interface PushTarget {
  /** Tells projects apart: `<project id>@<created>`. */
  readonly project: string;
  /** For people. */
  readonly address: string;
}

/** How far one table is. Each step is written down before the next one is asked for. */
export interface JournalTable {
  /** Id of the table that it goes to. */
  readonly destination?: string | undefined;
  /** Size and time of what was uploaded: what has changed since is uploaded anew. */
  readonly content?: string | undefined;
  readonly fileId?: number | undefined;
  /** Name of the uploaded file, which no other file has, and when the service made it. */
  readonly fileName?: string | undefined;
  readonly fileCreated?: string | undefined;
  readonly isUploaded?: boolean | undefined;
  /** This push makes the bucket, or the table: their metadata says so, even when it is interrupted in between. */
  readonly newBucket?: boolean | undefined;
  readonly newTable?: boolean | undefined;
  /** The primary key that the table had, while it is being replaced. */
  readonly previousKey?: readonly string[] | undefined;
  /** The import was asked for, or is about to be: the file shows whether there is a job. */
  readonly asked?: boolean | undefined;
  /** The load creates the table. */
  readonly creates?: boolean | undefined;
  readonly jobId?: number | undefined;
  /** When the service made the job. */
  readonly jobCreated?: string | undefined;
  /** How often it was begun anew: what is asked for then is not what was asked for before. */
  readonly round?: number | undefined;
  readonly done?: boolean | undefined;
  /** Rows that were loaded. */
  readonly rows?: number | undefined;
}

export interface FileEntry {
  readonly fileId?: number | undefined;
  /** When the service made the file. */
  readonly fileCreated?: string | undefined;
  /** How often it was begun anew: what is asked for then is not what was asked for before. */
  readonly round?: number | undefined;
  readonly done?: boolean | undefined;
}

export interface JournalDocument {
  /** Random id of this push: begins the `Idempotency-Key` of all its requests. An older journal has none. */
  readonly id?: string | undefined;
  readonly status: 'done' | 'pending';
  readonly target: PushTarget;
  readonly origin: Origin;
  readonly inputState: Json | undefined;
  readonly processedTags: readonly ProcessedFile[];
  readonly movesState: boolean;
  /** `config.outputBucket` of the run; where it has changed since, tables that were not begun go to the new one. */
  readonly outputBucket?: string | undefined;
  /** By the name in `out/tables`; the further tables of one source have `name/destination`. */
  readonly tables: ReadonlyMap<string, JournalTable>;
  /** By the name in `out/files`. */
  readonly files: ReadonlyMap<string, FileEntry>;
}
