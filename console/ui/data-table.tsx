import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isReturn } from '../route/router.ts';
import { classOf, type Column, type Plain, placeIn } from './grid-column.ts';
import { GridRow, type RowHandlers } from './grid-row.tsx';
import { useEdges, useMoreSign, useNeeds } from './grid-widths.ts';
import { useGridWindow, useRoom } from './grid-window.ts';
import { Icon } from './icon.tsx';
import { PlainRows } from './plain-rows.tsx';
import { Text } from './values.tsx';
import { WholeText } from './whole-text.tsx';
import './data-table.css';

export type { Column, Plain } from './grid-column.ts';

export interface Sort {
  readonly column: string;
  readonly isDown: boolean;
}

export interface DataTableProps<Row> {
  /** Description of the rows for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  /** Action of a click on a row, and of Enter. A link in its first cell should lead to the same place. */
  readonly onOpen?: (row: Row) => void;
  /** How it is sorted, where someone else sorts: the service, for example. */
  readonly sort?: Sort | undefined;
  readonly onSort?: (column: string) => void;
  /** Copies a cell, where its `text` is not all of it. */
  readonly onCopy?: (row: Row, column: string) => void;
  readonly rowHeight?: number;
  /** For tables of any size: cells that are plain texts, in the place of `show` and `text`. */
  readonly plain?: Plain;
  /** Rows that stand out, by their place in `rows`; the first of them comes into sight. */
  readonly marked?: ReadonlySet<number> | undefined;
}

/** Sort and place of tables that were left, for who comes back to them. */
const remembered = new Map<string, { readonly sort: Sort | undefined; readonly top: number }>();

const HEAD = 36;

/** Shows any number of rows and columns, of which only the visible ones are rendered. The arrows move, Enter opens. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rowKey, onOpen, plain, marked, rowHeight = 40 } = props;
  const id = useId();
  const scroll = useRef<HTMLDivElement>(null);
  const kept = useRef(`${window.location.pathname} ${label}`);
  const [own, setOwn] = useState(() => (isReturn() ? remembered.get(kept.current)?.sort : undefined));
  const [active, setActive] = useState<{ row: number; column: number } | undefined>();
  const [whole, setWhole] = useState<{ title: string; text: string } | undefined>();
  const sort = props.onSort === undefined ? own : props.sort;
  const rows = useMemo(
    () => (props.onSort === undefined ? sorted(props.rows, columns, own) : props.rows),
    [props.onSort === undefined, props.rows, columns, own],
  );
  const room = useRoom(scroll);
  const needs = useNeeds(scroll, columns, rows, room.width);
  const edges = useEdges(columns, room.width, needs);
  const seen = useGridWindow(scroll, {
    rows: rows.length,
    rowHeight,
    edges,
    width: room.width,
    height: Math.max(0, room.height - HEAD),
  });
  const width = edges.at(-1) ?? 0;
  // A list has few columns: all of them are drawn, so that it is known how wide they are.
  const [from, until] = plain === undefined ? [0, columns.length] : [seen.column, seen.column + seen.columns];
  useMoreSign(scroll, plain === undefined ? width : 0, room.width);
  useLayoutEffect(() => {
    const element = scroll.current;
    if (isReturn()) element?.scrollTo({ top: remembered.get(kept.current)?.top ?? 0 });
    return () => void remembered.set(kept.current, { sort: sorting.current, top: element?.scrollTop ?? 0 });
  }, []);
  const sorting = useRef(own);
  sorting.current = own;
  useEffect(() => plain?.onWindow(seen), [plain, seen]);
  useEffect(() => {
    const [first] = marked ?? [];
    if (first === undefined || first >= rows.length) return;
    scroll.current?.scrollTo({ top: Math.max(0, (first + 0.5) * rowHeight - (room.height - HEAD) / 2) });
  }, [marked]);

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
    const page = Math.max(1, Math.floor(room.height / rowHeight) - 2);
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
    scrollTo(next.row, next.column);
  }

  /** Scrolls no further than necessary to show the whole cell below the head. */
  function scrollTo(row: number, column: number): void {
    const element = scroll.current;
    if (element === null) return;
    const { scrollTop, scrollLeft } = element;
    const [left = 0, right = 0] = [edges[column], edges[column + 1]];
    element.scrollTo(
      Math.min(Math.max(scrollLeft, right - room.width), left),
      Math.min(Math.max(scrollTop, (row + 1) * rowHeight + HEAD - room.height), row * rowHeight),
    );
  }

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
            {columns.slice(from, until).map((column, i) => {
              const index = from + i;
              const direction =
                sort?.column === column.id ? (sort.isDown ? 'descending' : 'ascending') : undefined;
              // Rows that somebody else sorts: those of a table by any column, those of a list by the columns that say so.
              const canSort =
                column.sortBy !== undefined || (props.onSort !== undefined && plain !== undefined);
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  aria-colindex={index + 1}
                  aria-sort={direction}
                  class={classOf(column)}
                  data-column={plain === undefined ? column.id : undefined}
                  title={column.title}
                  style={placeIn(edges, index)}
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
        {plain !== undefined ? (
          <PlainRows
            {...{ edges, rowHeight, active, id }}
            window={seen}
            height={rows.length * rowHeight}
            plain={plain}
            onOpen={
              onOpen &&
              ((index) => {
                const row = rows[index];
                if (row !== undefined) onOpen(row);
              })
            }
          />
        ) : (
          <div
            class="grid-body"
            role="rowgroup"
            style={{ width: `${width}px`, height: `${rows.length * rowHeight}px` }}
          >
            {rows.slice(seen.row, seen.row + seen.rows).map((row, i) => (
              <GridRow
                key={rowKey(row, seen.row + i)}
                {...{ row, columns, edges, id, handlers }}
                index={seen.row + i}
                height={rowHeight}
                activeColumn={active?.row === seen.row + i ? active.column : undefined}
                canOpen={onOpen !== undefined}
                isMarked={marked?.has(seen.row + i) === true}
              />
            ))}
          </div>
        )}
      </div>
      {whole !== undefined && <WholeText {...whole} onClose={() => setWhole(undefined)} />}
    </>
  );
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
