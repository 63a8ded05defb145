import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { shownText } from '../../src/lib/shown-text.ts';
import { BASE, navigate } from '../route/router.ts';
import { type Plain, type PlainCell, placeIn } from './grid-column.ts';
import type { GridWindow } from './grid-window.ts';
import { emptyStrip, moved, type Strip } from './strip.ts';

interface PlainRowsProps {
  readonly window: GridWindow;
  readonly edges: readonly number[];
  readonly rowHeight: number;
  readonly height: number;
  readonly plain: Plain;
  readonly active: { readonly row: number; readonly column: number } | undefined;
  /** The cells' `id` begins with it. */
  readonly id: string;
  readonly onOpen: ((row: number) => void) | undefined;
}

/** More of a text is never seen in a cell, and would only be slow. */
const LONGEST = 160;

/**
 * Draws rows of plain texts, for tables of any size, without a component for each cell and in elements that are reused,
 * so that a jump to another place costs no more than writing its texts.
 */
export function PlainRows(props: PlainRowsProps) {
  const { edges, height, onOpen } = props;
  const body = useRef<HTMLDivElement>(null);
  const [drawing] = useState(() => new Drawing());
  useLayoutEffect(() => {
    if (body.current !== null) drawing.draw(body.current, props);
  });
  return (
    <div
      ref={body}
      class={onOpen === undefined ? 'grid-body' : 'grid-body grid-body-open'}
      role="rowgroup"
      style={{ width: `${edges.at(-1) ?? 0}px`, height: `${height}px` }}
      onClick={(event) => {
        const found = event.target instanceof Node ? drawing.find(event.target) : undefined;
        if (found === undefined) return;
        const { link } = props.plain.cell(found.row, found.column) ?? {};
        if (link !== undefined && event.target instanceof Element && event.target.closest('a') !== null) {
          if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          navigate(link.to);
        } else if (window.getSelection()?.isCollapsed !== false) onOpen?.(found.row);
      }}
    />
  );
}

interface Cell {
  readonly element: HTMLElement;
  column: number;
  edges?: readonly number[];
  /** Text that is drawn in the cell. */
  drawn: string | undefined;
  to: string | undefined;
  isActive: boolean;
}

interface Row {
  readonly element: HTMLElement;
  index: number;
  cells: Strip<Cell>;
}

class Drawing {
  #rows: Strip<Row> = emptyStrip;

  /** Writes what has changed, cell by cell: what stands there already is left alone. */
  draw(body: HTMLElement, { window, edges, rowHeight, plain, active, id }: PlainRowsProps): void {
    this.#rows = moved(body, this.#rows, window.row, window.rows, () => makeRow(rowHeight));
    this.#rows.items.forEach((row, y) => {
      const index = window.row + y;
      if (row.index !== index) {
        row.index = index;
        row.element.setAttribute('aria-rowindex', String(index + 2));
        row.element.style.top = `${index * rowHeight}px`;
      }
      row.cells = moved(row.element, row.cells, window.column, window.columns, makeCell);
      row.cells.items.forEach((drawn, x) => {
        const column = window.column + x;
        place(drawn, column, edges);
        write(drawn, plain.cell(index, column));
        mark(
          drawn,
          active?.row === index && active.column === column ? `${id}-${index}-${column}` : undefined,
        );
      });
    });
  }

  find(target: Node): { readonly row: number; readonly column: number } | undefined {
    const row = this.#rows.items.find(({ element }) => element.contains(target));
    const cell = row?.cells.items.find(({ element }) => element.contains(target));
    return row === undefined || cell === undefined ? undefined : { row: row.index, column: cell.column };
  }
}

function makeRow(rowHeight: number): Row {
  const element = document.createElement('div');
  element.className = 'grid-row grid-row-plain';
  element.setAttribute('role', 'row');
  element.style.height = `${rowHeight}px`;
  element.style.lineHeight = `${rowHeight - 1}px`;
  return { element, index: -1, cells: emptyStrip };
}

function makeCell(): Cell {
  const element = document.createElement('div');
  element.className = 'grid-plain';
  element.setAttribute('role', 'gridcell');
  return { element, column: -1, drawn: '', to: undefined, isActive: false };
}

function place(cell: Cell, column: number, edges: readonly number[]): void {
  if (cell.column === column && cell.edges === edges) return;
  cell.column = column;
  cell.edges = edges;
  cell.element.setAttribute('aria-colindex', String(column + 1));
  Object.assign(cell.element.style, placeIn(edges, column));
}

function write(cell: Cell, content: PlainCell | undefined): void {
  const { element } = cell;
  const text = content === undefined ? undefined : textOf(content);
  const to = content?.link?.to;
  if (cell.drawn === text && cell.to === to) return;
  if ((cell.drawn === undefined) !== (text === undefined))
    element.classList.toggle('grid-plain-wait', text === undefined);
  if (content?.link !== undefined && text !== undefined) element.replaceChildren(linkOf(text, content.link));
  // A text that is there already is cheaper to change than to make.
  else if (element.firstChild instanceof Text) element.firstChild.data = text ?? '';
  else element.textContent = text ?? '';
  cell.drawn = text;
  cell.to = to;
}

function textOf({ text, isCut }: PlainCell): string {
  const isLong = text.length > LONGEST;
  const shown = shownText(isLong ? text.slice(0, LONGEST) : text);
  return isLong || isCut === true ? `${shown}…` : shown;
}

function linkOf(text: string, { to, title }: NonNullable<PlainCell['link']>): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = BASE + to;
  link.title = title;
  link.textContent = text;
  return link;
}

/** @param id of the cell where the keys are; undefined for any other */
function mark(cell: Cell, id: string | undefined): void {
  if (id === undefined && !cell.isActive) return;
  cell.isActive = id !== undefined;
  cell.element.classList.toggle('grid-cell-active', cell.isActive);
  if (id === undefined) cell.element.removeAttribute('id');
  else cell.element.id = id;
}
