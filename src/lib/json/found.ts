/** A run of bytes of the document that holds whole rows. `[start - 1, end + 1)` spans the brackets or commas around. */
export interface RowChunk {
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  /** False when the chunk must be parsed by the exact parser: `JSON.parse` would lose something of it. */
  readonly plain: boolean;
}

/** A list found in the document, in chunks of bounded size. */
export interface FoundList {
  /** Offset of `[`. */
  readonly start: number;
  /** Offset behind `]`. */
  readonly end: number;
  readonly rows: number;
  readonly chunks: readonly RowChunk[];
}

/** Where the rows of a response are, found without building a single object. */
export interface Scan {
  readonly root: 'object' | 'list' | 'scalar';
  /** Lists at the path asked for, or every direct list of the root object when no path was given, by key. */
  readonly lists: ReadonlyMap<string, FoundList>;
  /** False when what is outside the lists must be parsed by the exact parser. */
  readonly plain: boolean;
}
