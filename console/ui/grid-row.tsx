import { Component, type ComponentChildren } from 'preact';
import { classOf, type Column, placeIn } from './grid-column.ts';
import { Text } from './values.tsx';

/** More of a cell is never seen at once, and would only be slow. */
const LONGEST_CELL = 300;

export interface RowHandlers<Row> {
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly open: (row: number, column: number) => void;
}

interface RowProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly height: number;
  readonly columns: readonly Column<Row>[];
  /** Left edges of the columns. */
  readonly edges: readonly number[];
  readonly activeColumn: number | undefined;
  readonly canOpen: boolean;
  readonly isMarked: boolean;
  readonly id: string;
  /** Those of now, however old the row is. */
  readonly handlers: { readonly current: RowHandlers<Row> };
}

/** Rendered again only when something in it is another: while one scrolls, most rows stay as they are. */
export class GridRow<Row> extends Component<RowProps<Row>> {
  override shouldComponentUpdate(next: RowProps<Row>): boolean {
    const before = this.props;
    return UPDATING.some((name) => before[name] !== next[name]);
  }

  override render() {
    const { row, index: at, height, columns, edges, activeColumn, canOpen, id } = this.props;
    const { handlers, isMarked } = this.props;
    return (
      <div
        role="row"
        aria-rowindex={at + 2}
        aria-selected={isMarked ? true : undefined}
        class={`grid-row${canOpen ? ' grid-row-open' : ''}${isMarked ? ' grid-row-marked' : ''}`}
        style={{ height: `${height}px`, top: `${at * height}px` }}
        onClick={(event) => {
          // A link or button in it has its own way, and a text may be marked to be copied.
          const isOwn = event.target instanceof Element && event.target.closest('a, button, input, label');
          if (!isOwn && window.getSelection()?.isCollapsed !== false) handlers.current.onOpen?.(row);
        }}
      >
        {columns.map((column, index) => (
          <div
            key={column.id}
            id={`${id}-${at}-${index}`}
            role="gridcell"
            aria-colindex={index + 1}
            class={`${classOf(column)}${activeColumn === index ? ' grid-cell-active' : ''}`}
            data-column={column.id}
            style={placeIn(edges, index)}
            onDblClick={() => !canOpen && handlers.current.open(at, index)}
          >
            <span>{contentOf(column, row)}</span>
          </div>
        ))}
      </div>
    );
  }
}

const UPDATING = [
  'row',
  'index',
  'height',
  'columns',
  'edges',
  'activeColumn',
  'canOpen',
  'isMarked',
] as const;

function contentOf<Row>({ show, text }: Column<Row>, row: Row): ComponentChildren {
  if (show !== undefined) return show(row);
  const value = text?.(row);
  if (value === null) return <span class="muted">null</span>;
  if (value === undefined || value === '') return null;
  return <Text>{value.length > LONGEST_CELL ? `${value.slice(0, LONGEST_CELL)}…` : value}</Text>;
}
