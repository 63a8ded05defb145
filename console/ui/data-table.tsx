import { Component, type ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { Text } from './values.tsx';
import { useVirtual } from './virtual.ts';
import { WholeText } from './whole-text.tsx';
import './data-table.css';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Beside the title: a key, for example. */
  readonly mark?: ComponentChildren;
  /** In pixels, default 160: the columns share what is left over. */
  readonly width?: number;
  readonly align?: 'right';
  /** What stands in a cell. */
  readonly show?: (row: Row) => ComponentChildren;
  /** Or its text, from outside: it is shown cut, and whole on request. */
  readonly text?: (row: Row) => string | null;
  /** Pressing the title sorts by it. */
  readonly sortBy?: (row: Row) => number | string;
}

export interface Sort {
  readonly column: string;
  readonly isDown: boolean;
}

export interface DataTableProps<Row> {
  /** What the rows are, for those who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  /** What a click on a row does, and Enter. A link in its first cell should lead to the same. */
  readonly onOpen?: (row: Row) => void;
  /** How it is sorted, where someone else sorts: the service, for example. */
  readonly sort?: Sort | undefined;
  readonly onSort?: (column: string) => void;
  /** Copies a cell, where its `text` is not all of it. */
  readonly onCopy?: (row: Row, column: string) => void;
  readonly rowHeight?: number;
}

const HEAD = 36;
/** More of a cell is never seen at once, and would only be slow. */
const LONGEST_CELL = 300;

/** Rows and columns of any number: only those that are seen are there. The arrows move, Enter opens. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rowKey, onOpen, rowHeight = 40 } = props;
  const id = useId();
  const scroll = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState<Sort | undefined>();
  const [active, setActive] = useState<{ row: number; column: number } | undefined>();
  const [whole, setWhole] = useState<{ title: string; text: string } | undefined>();
  const sort = props.onSort === undefined ? own : props.sort;
  const rows = props.onSort === undefined ? sorted(props.rows, columns, own) : props.rows;
  const widths = useWidths(columns, scroll);
  const rowsSeen = useVirtual({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingStart: HEAD,
  });
  const columnsSeen = useVirtual({
    count: columns.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => widths[index] ?? 0,
    horizontal: true,
    overscan: 3,
  });
  const widthsText = useMemo(() => widths.join(), [widths]);
  useLayoutEffect(() => columnsSeen.measure(), [widthsText, columnsSeen]);
  const seen = columnsSeen.getVirtualItems();
  const width = columnsSeen.getTotalSize();

  function press(column: string): void {
    if (props.onSort !== undefined) props.onSort(column);
    else
      setOwn(
        own?.column === column
          ? own.isDown
            ? undefined
            : { column, isDown: true }
          : { column, isDown: false },
      );
  }

  function open(row: number, column: number): void {
    const [found, at] = [rows[row], columns[column]];
    if (found === undefined || at === undefined) return;
    if (onOpen !== undefined) onOpen(found);
    else if (at.text !== undefined) setWhole({ title: at.title, text: at.text(found) ?? '' });
  }

  function copy(event: KeyboardEvent): void {
    const [row, column] = [rows[active?.row ?? -1], columns[active?.column ?? -1]];
    if (row === undefined || column === undefined || window.getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    if (props.onCopy !== undefined) props.onCopy(row, column.id);
    else void navigator.clipboard.writeText(column.text?.(row) ?? '');
  }

  function move(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return;
    if (event.key === 'c' && (event.ctrlKey || event.metaKey)) return copy(event);
    const at = active ?? { row: 0, column: 0 };
    const page = Math.max(1, Math.floor((scroll.current?.clientHeight ?? 0) / rowHeight) - 2);
    const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      PageDown: [page, 0],
      PageUp: [-page, 0],
      Home: event.ctrlKey ? [-rows.length, -columns.length] : [0, -columns.length],
      End: event.ctrlKey ? [rows.length, columns.length] : [0, columns.length],
    };
    const step = steps[event.key];
    if (event.key === 'Enter' && active !== undefined) open(active.row, active.column);
    if (step === undefined) return;
    event.preventDefault();
    const next =
      active === undefined
        ? at
        : {
            row: clamp(at.row + step[0], rows.length),
            column: clamp(at.column + step[1], columns.length),
          };
    setActive(next);
    rowsSeen.scrollToIndex(next.row);
    columnsSeen.scrollToIndex(next.column);
  }

  const seenKey = seen.map(({ index, start, size }) => `${index}:${start}:${size}`).join();
  const handlers = useRef<RowHandlers<Row>>({ onOpen, open });
  handlers.current = { onOpen, open };

  return (
    <>
      <div
        ref={scroll}
        class="grid"
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={active === undefined ? undefined : `${id}-${active.row}-${active.column}`}
        onKeyDown={move}
        onBlur={() => setActive(undefined)}
      >
        <div class="grid-head" role="rowgroup" style={{ width: `${width}px` }}>
          <div role="row" aria-rowindex={1}>
            {seen.map(({ index, start, size }) => {
              const column = columns[index];
              if (column === undefined) return null;
              const direction =
                sort?.column === column.id ? (sort.isDown ? 'descending' : 'ascending') : undefined;
              const canSort = props.onSort !== undefined || column.sortBy !== undefined;
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  aria-colindex={index + 1}
                  aria-sort={direction}
                  class={classOf(column)}
                  title={column.title}
                  style={{ left: `${start}px`, width: `${size}px` }}
                >
                  {canSort ? (
                    <button type="button" class="grid-sort" onClick={() => press(column.id)}>
                      <span>
                        <Text>{column.title}</Text>
                      </span>
                      {column.mark}
                      {direction && <Icon name={direction === 'ascending' ? 'up' : 'down'} size={12} />}
                    </button>
                  ) : (
                    <>
                      <span>
                        <Text>{column.title}</Text>
                      </span>
                      {column.mark}
                    </>
                  )}
                </div>
              );
            })}
          </div>
        </div>
        <div
          class="grid-body"
          role="rowgroup"
          style={{ width: `${width}px`, height: `${rowsSeen.getTotalSize()}px` }}
        >
          {rowsSeen.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <GridRow
                key={rowKey(row, item.index)}
                {...{ row, columns, seen, id, handlers }}
                index={item.index}
                size={item.size}
                start={item.start}
                seenKey={seenKey}
                activeColumn={active?.row === item.index ? active.column : undefined}
                canOpen={onOpen !== undefined}
              />
            );
          })}
        </div>
      </div>
      {whole !== undefined && <WholeText {...whole} onClose={() => setWhole(undefined)} />}
    </>
  );
}

interface RowHandlers<Row> {
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly open: (row: number, column: number) => void;
}

interface RowProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly size: number;
  readonly start: number;
  readonly columns: readonly Column<Row>[];
  readonly seen: readonly { readonly index: number; readonly start: number; readonly size: number }[];
  readonly seenKey: string;
  readonly activeColumn: number | undefined;
  readonly canOpen: boolean;
  readonly id: string;
  /** Those of now, however old the row is. */
  readonly handlers: { readonly current: RowHandlers<Row> };
}

/** Rendered again only when something in it is another: while one scrolls, most rows stay as they are. */
class GridRow<Row> extends Component<RowProps<Row>> {
  override shouldComponentUpdate(next: RowProps<Row>): boolean {
    const before = this.props;
    return UPDATING.some((name) => before[name] !== next[name]);
  }

  override render() {
    const { row, index: at, size: height, start: top, columns, seen, activeColumn, canOpen, id } = this.props;
    const { handlers } = this.props;
    return (
      <div
        role="row"
        aria-rowindex={at + 2}
        class={canOpen ? 'grid-row grid-row-open' : 'grid-row'}
        style={{ height: `${height}px`, top: `${top}px` }}
        onClick={(event) => {
          // A link or button in it has its own way, and a text may be marked to be copied.
          const isOwn = event.target instanceof Element && event.target.closest('a, button, input, label');
          if (!isOwn && window.getSelection()?.isCollapsed !== false) handlers.current.onOpen?.(row);
        }}
      >
        {seen.map(({ index, start, size }) => {
          const column = columns[index];
          if (column === undefined) return null;
          return (
            <div
              key={column.id}
              id={`${id}-${at}-${index}`}
              role="gridcell"
              aria-colindex={index + 1}
              class={`${classOf(column)}${activeColumn === index ? ' grid-cell-active' : ''}`}
              style={{ left: `${start}px`, width: `${size}px` }}
              onDblClick={() => !canOpen && handlers.current.open(at, index)}
            >
              <span>{contentOf(column, row)}</span>
            </div>
          );
        })}
      </div>
    );
  }
}

const UPDATING = ['row', 'index', 'size', 'start', 'columns', 'seenKey', 'activeColumn', 'canOpen'] as const;

function contentOf<Row>({ show, text }: Column<Row>, row: Row): ComponentChildren {
  if (show !== undefined) return show(row);
  const value = text?.(row);
  if (value === null) return <span class="muted">null</span>;
  if (value === undefined || value === '') return null;
  return <Text>{value.length > LONGEST_CELL ? `${value.slice(0, LONGEST_CELL)}…` : value}</Text>;
}

function classOf<Row>({ align }: Column<Row>): string {
  return align === 'right' ? 'grid-cell grid-cell-right' : 'grid-cell';
}

const clamp = (index: number, count: number): number => Math.min(Math.max(index, 0), count - 1);

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const by = columns.find(({ id }) => id === sort?.column)?.sortBy;
  if (by === undefined) return rows;
  const sign = sort?.isDown === true ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [by(a), by(b)];
    if (typeof left === 'string' && typeof right === 'string') return sign * COLLATOR.compare(left, right);
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/** As wide as they want to be, and wider where there is room. */
function useWidths<Row>(
  columns: readonly Column<Row>[],
  scroll: { readonly current: HTMLElement | null },
): readonly number[] {
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return undefined;
    const look = (): void => setRoom(element.clientWidth);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroll]);
  return useMemo(() => {
    const wanted = columns.map(({ width = 160 }) => width);
    const sum = wanted.reduce((total, width) => total + width, 0);
    const factor = room > sum && sum > 0 ? room / sum : 1;
    return wanted.map((width) => Math.floor(width * factor));
  }, [columns, room]);
}
