import type { File } from '../protocol/index.ts';
import type { FileOperations } from './file-operations.ts';
import type { UploadBody } from './transfer/body.ts';
import type { TransferOptions } from './transfer/progress.ts';
import type { ReadFileOptions } from './transfer/read-file.ts';
import type { Readable } from 'node:stream';

/** How a file is named and kept. */
export interface UploadOptions extends TransferOptions {
  /** Name of the file in the storage. */
  readonly name: string;
  readonly tags?: readonly string[] | undefined;
  /** True when the file is encrypted at rest. Default: true, as in the public clients. */
  readonly isEncrypted?: boolean | undefined;
  readonly isPermanent?: boolean | undefined;
  readonly isPublic?: boolean | undefined;
  readonly notify?: boolean | undefined;
  readonly contentType?: string | undefined;
  /** Compresses on the way; the name gets `.gz` when it has none. Default: false. */
  readonly gzip?: boolean | undefined;
  /** `Idempotency-Key` of the file that is made. Default: a unique one. */
  readonly key?: string | undefined;
  /** Told of the file before its content is sent, to write its id down. */
  readonly onPrepared?: ((file: File) => void | Promise<void>) | undefined;
}

/** One part of a sliced file. */
export interface UploadSlice {
  /** Last part of the slice's key; each its own, none `manifest`. */
  readonly name: string;
  readonly body: UploadBody;
}

/** As for an upload; the importer compresses nothing. */
export interface ImporterOptions extends Omit<UploadOptions, 'gzip' | 'key' | 'onPrepared'> {
  /** Address of the importer. Default: what the index of the service says. */
  readonly importUrl?: string | undefined;
}

/** Parts of a file to write, and how it is read. */
export interface DownloadToOptions extends ReadFileOptions {
  /** Continues where an earlier attempt to the same path ended. For whole files, as they are stored. Default: true. */
  readonly resume?: boolean | undefined;
}

/** With those that move their content. */
export interface Files extends FileOperations {
  /** Makes a file and sends its content: at once when it is small, in parts when it is large. */
  upload(body: UploadBody, options: UploadOptions): Promise<File>;
  /** Makes a sliced file: its slices, in this order, and its manifest. */
  uploadSliced(slices: readonly UploadSlice[], options: UploadOptions): Promise<File>;
  /** Sends a file through the importer, without an object store: simple, for files up to 2 GB. */
  uploadByImporter(body: UploadBody, options: ImporterOptions): Promise<File>;
  /** The content as a stream of bytes. What is cut is opened again where it was. */
  read(id: number, options?: ReadFileOptions): Promise<Readable>;
  /** Writes the content into a file, which appears when it is complete. Gives its size. */
  downloadTo(id: number, path: string, options?: DownloadToOptions): Promise<{ readonly bytes: number }>;
  /** Names of the slices in the order of the manifest, such as `_0_0_0.csv.gz`; of a whole file, none. */
  slices(id: number): Promise<string[]>;
  /** One slice. */
  readSlice(id: number, name: string, options?: ReadFileOptions): Promise<Readable>;
}
