import { useEffect, useMemo, useState } from 'preact/hooks';
import { client, type Table, type WhereFilter } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx';
import { DataTable, type Column, type Plain } from '../../ui/data-table.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Banner, EmptyState, ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { countText, plural, Text } from '../../ui/values.tsx';
import { bucketOf } from './table-columns.tsx';
import { ColumnChooser } from './column-chooser.tsx';
import { FilterForm, filterText } from './filter.tsx';
import { Record } from './record.tsx';
import { placeOf, relationsOf, type Relation } from './relations.ts';
import { columnsIn, isChosen, MOST_ROWS, queryOf, readSelection, useRows } from './rows.ts';

/** Longer lists of columns are not put into the address. */
const MOST_IN_ADDRESS = 3000;

/** Shows the rows of a table, however many and wide. The address holds the selection. */
export function Preview({ table }: { readonly table: Table }) {
  const { query } = usePlace();
  const selection = useMemo(() => readSelection(query, table), [query, table]);
  const all = table.columns ?? [];
  const [own, setOwn] = useState<readonly string[] | undefined>();
  const columns = useMemo(() => own ?? columnsIn(query, table) ?? all, [own, query, table]);
  const rows = useRows({
    id: table.id,
    columns,
    selection,
    rowsCount: table.rowsCount,
    sizeBytes: table.dataSizeBytes,
    version: table.lastChangeDate ?? '',
  });
  const count = useQuery({
    key: ['tables', table.id, 'count', selection.filters, selection.search, table.lastChangeDate],
    load: async (signal) => {
      const { whereFilters, search: text } = queryOf(selection);
      return await client().tables.count(table.id, { whereFilters, search: text }, { signal });
    },
    isEnabled: isChosen(selection),
  });
  const relations = useRelations(table);
  const [search, setSearch] = useState(selection.search);
  const [isFiltering, setFiltering] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const row = Number(query.get('row'));
  const opened = Number.isInteger(row) && row > 0 ? row - 1 : undefined;
  useEffect(() => {
    // Not for every letter: each search reads the table.
    const timer = setTimeout(() => {
      if (search !== selection.search) setQuery({ find: search });
    }, 300);
    return () => clearTimeout(timer);
  }, [search, selection.search]);
  const sort = selection.sort;
  const shown = useMemo(
    () =>
      columns.map((name): Column<number> => ({
        id: name,
        title: name,
        width: Math.min(240, Math.max(110, name.length * 9 + 40)),
        mark: table.primaryKey.includes(name) ? <span class="tables-key">key</span> : undefined,
      })),
    [columns, table],
  );
  const plain = useMemo((): Plain => {
    const related = columns.map((name) => relations.find(({ column }) => column === name));
    return {
      cell(row, column) {
        const cell = rows.cell(row, column);
        const relation = related[column];
        // The rows with a value that is cut cannot be looked up here.
        if (relation === undefined || cell === undefined || cell.text === '' || cell.isCut) return cell;
        const title = `Show the rows of ${relation.table}`;
        return { ...cell, link: { to: placeOf(relation, cell.text), title } };
      },
      onWindow: (part) => rows.look(part),
    };
  }, [columns, relations, rows]);
  const list = useMemo(() => Array.from({ length: rows.count }, (_, index) => index), [rows.count]);
  const copy = async (row: number, column: string): Promise<void> => {
    const { rows: found } = await client().tables.preview(table.id, {
      ...queryOf(selection),
      columns: [column],
      offset: row,
      limit: 1,
      cellLength: 100_000_000,
    });
    await navigator.clipboard.writeText(found[0]?.[0] ?? '');
    toast('The value is copied.');
  };
  if (all.length === 0 || table.rowsCount === 0)
    return (
      <div class="card">
        <EmptyState
          icon="table"
          title="This table has no rows yet"
          action={
            <Button icon="upload" onPress={() => setQuery({ tab: 'import' })}>
              Import a file
            </Button>
          }
        >
          Rows come from runs of a source, or from a CSV file.
        </EmptyState>
      </div>
    );
  return (
    <div class="stack tables-preview">
      <div class="spread">
        <div class="row tables-tools">
          <SearchField label="Search in all columns" value={search} onInput={setSearch} />
          <Button icon="plus" onPress={() => setFiltering(true)}>
            Filter
          </Button>
          <Button icon="table" onPress={() => setChoosing(true)}>
            {columns.length === all.length
              ? 'Columns'
              : `${countText(columns.length)} of ${countText(all.length)} columns`}
          </Button>
        </div>
        <span class="muted small number" role="status">
          {isChosen(selection)
            ? count.data === undefined
              ? 'Counting the rows'
              : `${countText(count.data)} of ${countText(table.rowsCount ?? count.data)} rows`
            : plural(table.rowsCount ?? rows.count, 'row')}
        </span>
      </div>
      {(selection.filters.length > 0 || sort !== undefined) && (
        <ul class="tables-chips" aria-label="Filters and order">
          {selection.filters.map((filter, index) => (
            <li key={index} class="tables-chip">
              <span>
                <Text>{filterText(filter)}</Text>
              </span>
              <IconButton
                icon="close"
                label={`Remove the filter ${filter.column}`}
                onPress={() => setFilters(selection.filters.filter((_, at) => at !== index))}
              />
            </li>
          ))}
          {sort !== undefined && (
            <li class="tables-chip">
              <button
                type="button"
                title={sort.isText ? 'Sort numbers by their size' : 'Sort numbers as text, too'}
                onClick={() => setQuery({ as: sort.isText ? undefined : 'text' })}
              >
                Sorted by <Text>{sort.column}</Text>
                {sort.isText ? ' as text' : ', numbers by their size'}
              </button>
              <IconButton
                icon="close"
                label="Remove the order"
                onPress={() => setQuery({ sort: undefined, down: undefined, as: undefined })}
              />
            </li>
          )}
        </ul>
      )}
      {rows.error !== undefined && (
        <>
          <ErrorBanner error={rows.error} />
          <div>
            <Button icon="refresh" onPress={() => rows.retry()}>
              Try again
            </Button>
          </div>
        </>
      )}
      {table.rowsCount !== null && table.rowsCount > MOST_ROWS && (
        <Banner>
          The list ends after {countText(MOST_ROWS)} rows. Search, filter or sort to see others, or export the
          table.
        </Banner>
      )}
      {columns.length === 0 ? (
        <div class="card">
          <EmptyState
            title="No column is chosen"
            action={<Button onPress={() => setChoosing(true)}>Choose columns</Button>}
          />
        </div>
      ) : rows.isEmpty ? (
        <div class="card">
          <EmptyState icon="search" title="No row is like that">
            Change the search, or take a filter away.
          </EmptyState>
        </div>
      ) : (
        <DataTable
          label={`Rows of ${table.id}`}
          columns={shown}
          rows={list}
          rowKey={String}
          rowHeight={32}
          plain={plain}
          sort={sort}
          onSort={(column) => {
            const isSame = sort?.column === column;
            if (isSame && sort.isDown) setQuery({ sort: undefined, down: undefined, as: undefined });
            else setQuery({ sort: column, down: isSame ? '1' : undefined });
          }}
          onOpen={setOpened}
          onCopy={(row, column) =>
            void copy(row, column).catch(() => toast('The value could not be copied.', 'bad'))
          }
        />
      )}
      {relations.length > 0 && <Relations relations={relations} />}
      {isFiltering && (
        <FilterForm
          columns={all}
          onClose={() => setFiltering(false)}
          onAdd={(filters) => {
            setFiltering(false);
            setFilters([...selection.filters, ...filters]);
          }}
        />
      )}
      {isChoosing && (
        <ColumnChooser
          all={all}
          chosen={columns}
          onClose={() => setChoosing(false)}
          onChange={(names) => {
            setOwn(names);
            const text = names.join();
            const isAll = text === all.join();
            setQuery({ columns: isAll || text.length > MOST_IN_ADDRESS ? undefined : text });
          }}
        />
      )}
      {opened !== undefined && (
        <Record
          key={opened}
          table={table}
          selection={selection}
          row={opened}
          count={rows.count}
          relations={relations}
          onRow={setOpened}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
}

/** Opens a row, which the address then holds. */
function setOpened(index: number | undefined): void {
  setQuery({ row: index === undefined ? undefined : String(index + 1) });
}

function setFilters(filters: readonly WhereFilter[]): void {
  setQuery({ filters: filters.length === 0 ? undefined : JSON.stringify(filters) });
}

function Relations({ relations }: { readonly relations: readonly Relation[] }) {
  const tables = [...new Map(relations.map((relation) => [relation.table, relation])).values()];
  return (
    <nav class="row" aria-label="Related tables">
      {tables.map(({ table, kind, column }) => (
        <ButtonLink
          key={table}
          to={`/tables/${encodeURIComponent(table)}`}
          icon={kind === 'parent' ? 'up' : 'down'}
        >
          {kind === 'parent' ? 'Parent table, by' : 'Child table, by'} <Text>{column}</Text>:{' '}
          <Text>{table}</Text>
        </ButtonLink>
      ))}
    </nav>
  );
}

function useRelations(table: Table): readonly Relation[] {
  const bucket = bucketOf(table.id);
  const siblings = useQuery({
    key: ['tables', 'columns of', bucket],
    load: async () => await client().tables.list({ bucket, include: ['columns'] }),
  });
  return useMemo(() => relationsOf(table, siblings.data ?? []), [table, siblings.data]);
}
