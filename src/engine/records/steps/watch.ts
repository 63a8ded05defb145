import type { Json, Path } from '../../../lib/json/index.ts';

interface Looked {
  found: boolean;
  /** JSON path of the setting that looked first. */
  readonly at: string;
}

/** A path of a setting that no row had. */
export interface Miss {
  readonly path: Path;
  readonly at: string;
}

/** Counts of what the row settings of one job did, over all its pages. Each row is counted once. */
export class RowWatch {
  /** Rows that conditions were asked about, and those that they left out. */
  asked = 0;
  leftOut = 0;
  /** Rows that were to be expanded, and those that had nothing to be. */
  expanded = 0;
  childless = 0;
  /** The first row, and the first record that rows were made of. */
  sample: Json | undefined;
  record: Json | undefined;
  readonly #looked = new Map<Path, Looked>();
  readonly #filled = new Set<string>();

  looked(path: Path, found: boolean, at: string): void {
    const looked = this.#looked.get(path);
    if (looked === undefined) this.#looked.set(path, { found, at });
    else if (found) looked.found = true;
  }

  /** Records that a column got a value. */
  filled(at: string): void {
    this.#filled.add(at);
  }

  isFilled(at: string): boolean {
    return this.#filled.has(at);
  }

  misses(): readonly Miss[] {
    return [...this.#looked].flatMap(([path, { found, at }]) => (found ? [] : [{ path, at }]));
  }
}
