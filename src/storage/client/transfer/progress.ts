/** How far a transfer is. */
export interface TransferProgress {
  readonly direction: 'upload' | 'download';
  /** Name of the file; of a sliced file, the name of the slice behind a `/`. */
  readonly name: string;
  readonly fileId?: number;
  /** Bytes of the content so far: of an upload that was begun again, fewer than before. */
  readonly bytes: number;
  /** Undefined when it isn't known before the end. */
  readonly totalBytes: number | undefined;
}

/** Called for every piece; what it throws ends the transfer. */
export type OnProgress = (progress: TransferProgress) => void;

/** Options of every transfer. */
export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
}
