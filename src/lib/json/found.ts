/** A place between two rows of a chunk. */
export interface RowCut {
  /** Offset behind the row before. */
  readonly end: number;
  /** Offset of the row behind. */
  readonly start: number;
  /** Rows of the chunk before it. */
  readonly rows: number;
}

/** Range of bytes of the document that holds whole rows. `[start - 1, end + 1)` spans the brackets or commas around. */
export interface RowChunk {
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  /** False when the chunk must be parsed by the exact parser: `JSON.parse` would lose a part of it. */
  readonly plain: boolean;
  /** Places where it can be divided. */
  readonly cuts: readonly RowCut[];
}

/** List found in the document, in chunks of bounded size. */
export interface ScannedList {
  /** Offset of `[`. */
  readonly start: number;
  /** Offset behind `]`. */
  readonly end: number;
  readonly rows: number;
  readonly chunks: readonly RowChunk[];
}

/** Places of the rows of a response, found without building a single object. */
export interface ListScan {
  readonly root: 'object' | 'list' | 'scalar';
  /** Lists at the path asked for, or every direct list of the root object when no path was given, by key. */
  readonly lists: ReadonlyMap<string, ScannedList>;
  /** False when the text outside the lists must be parsed by the exact parser. */
  readonly plain: boolean;
}
