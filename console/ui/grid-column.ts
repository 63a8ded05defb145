import type { ComponentChildren } from 'preact';
import type { GridWindow } from './grid-window.ts';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Beside the title: a key, for example. */
  readonly mark?: ComponentChildren;
  /** In pixels, default 160: the columns share what is left over. */
  readonly width?: number;
  /** Part in what is left over, beside its width; default 1, and none where it is 0. */
  readonly grow?: number;
  readonly align?: 'right';
  /** Content of a cell. */
  readonly show?: (row: Row) => ComponentChildren;
  /** Or its text, from outside: it is shown cut, and whole on request. */
  readonly text?: (row: Row) => string | null;
  /** Pressing the title sorts by it. */
  readonly sortBy?: (row: Row) => number | string;
}

/** The cells of a table of any size. */
export interface Plain {
  /** Undefined while it is on its way. */
  readonly cell: (row: number, column: number) => PlainCell | undefined;
  /** Told which part is drawn, whenever that is another one. */
  readonly onWindow: (window: GridWindow) => void;
}

/** A cell that is a text and nothing else. */
export interface PlainCell {
  readonly text: string;
  /** There is more of it. */
  readonly isCut?: boolean;
  /** Target of the link. */
  readonly link?: { readonly to: string; readonly title: string } | undefined;
}

export function classOf<Row>({ align }: Column<Row>): string {
  return align === 'right' ? 'grid-cell grid-cell-right' : 'grid-cell';
}

export function placeIn(edges: readonly number[], column: number): { left: string; width: string } {
  const left = edges[column] ?? 0;
  return { left: `${left}px`, width: `${(edges[column + 1] ?? left) - left}px` };
}
