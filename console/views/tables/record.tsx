import { useState } from 'preact/hooks';
import { client, type Table } from '../../data/client.ts';
import { useAction, useQuery } from '../../data/query.ts';
import { at, BASE } from '../../route/router.ts';
import { ButtonLink, Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SearchField } from '../../ui/field.tsx';
import { EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyButton, countText, Text } from '../../ui/values.tsx';
import { WholeText } from '../../ui/whole-text.tsx';
import { placeOf, type Relation } from './relations.ts';
import { filtersOf, RowOriginOf, type Value } from './row-origin.tsx';
import { queryOf, type Selection } from './rows.ts';

/** Fields of a record that are shown at a time. */
const STEP = 100;
const CELL_LENGTH = 1000;
/** More than a cell can have. */
const WHOLE = 2_000_000_000;

/** Shows one row, with a line for each of its values. */
export function Record({
  table,
  selection,
  row,
  count,
  relations,
  onRow,
  onClose,
}: {
  readonly table: Table;
  readonly selection: Selection;
  readonly row: number;
  readonly count: number;
  readonly relations: readonly Relation[];
  readonly onRow: (row: number) => void;
  readonly onClose: () => void;
}) {
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(STEP);
  const [whole, setWhole] = useState<{ title: string; text: string } | undefined>();
  const all = table.columns ?? [];
  const matching = all.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  const names = matching.slice(0, most);
  const load = async (columns: readonly string[], cellLength: number) =>
    await client().tables.preview(table.id, {
      ...queryOf(selection),
      columns,
      offset: row,
      limit: 1,
      cellLength,
    });
  const record = useQuery({
    key: ['tables', table.id, 'record', row, selection, names],
    load: async () => await inParts(names, async (part) => await load(part, CELL_LENGTH)),
    keepsPrevious: true,
  });
  const fetchWhole = useAction(async (name: string) => (await load([name], WHOLE)).rows[0]?.[0] ?? '');
  const [isAsking, setAsking] = useState(false);
  const filters = record.data === undefined ? undefined : filtersOf(table, record.data);
  const copyRow = useAction(async () => {
    const values = await inParts(all, async (part) => await load(part, WHOLE));
    const json = Object.fromEntries([...values].map(([name, { text }]) => [name, text]));
    await navigator.clipboard.writeText(JSON.stringify(json, undefined, 2));
    toast('The row is copied as JSON.');
  });
  return (
    <Dialog title={`Row ${countText(row + 1)}`} onClose={onClose} form="side">
      <div class="spread">
        <div class="row">
          <IconButton
            icon="up"
            label="The row before"
            isDisabled={row === 0}
            onPress={() => onRow(row - 1)}
          />
          <IconButton
            icon="down"
            label="The next row"
            isDisabled={row + 1 >= count}
            onPress={() => onRow(row + 1)}
          />
          <Button icon="copy" isBusy={copyRow.isRunning} onPress={() => void copyRow.run(undefined)}>
            Copy as JSON
          </Button>
          <CopyButton icon="link" text={linkTo(table, record.data)} label="Copy a link to this row" />
          {filters !== undefined && (
            <Button icon="source" isExpanded={isAsking} onPress={() => setAsking(!isAsking)}>
              Where does this row come from?
            </Button>
          )}
        </div>
        {all.length > 12 && <SearchField label="Search columns" value={search} onInput={setSearch} />}
      </div>
      {isAsking && filters !== undefined && <RowOriginOf table={table} filters={filters} />}
      {copyRow.error !== undefined && <ErrorBanner error={copyRow.error} />}
      {fetchWhole.error !== undefined && <ErrorBanner error={fetchWhole.error} />}
      <Loaded query={record}>
        {(values) =>
          values.size === 0 ? (
            <EmptyState title="There is no such row">
              The table has changed since, or the link is for other filters.
            </EmptyState>
          ) : (
            <dl class="tables-record">
              {names.map((name) => {
                const cell = values.get(name);
                return (
                  <div key={name}>
                    <dt>
                      <Text>{name}</Text>
                      {table.primaryKey.includes(name) && <span class="tables-key">key</span>}
                    </dt>
                    <dd>
                      {cell === undefined || cell.text === '' ? (
                        <span class="muted">empty</span>
                      ) : (
                        <>
                          <Text>{cell.isCut ? `${cell.text}…` : cell.text}</Text>
                          {cell.isCut && (
                            <Button
                              isBusy={fetchWhole.isRunning}
                              onPress={() =>
                                void fetchWhole
                                  .run(name)
                                  .then((text) => text !== undefined && setWhole({ title: name, text }))
                              }
                            >
                              Show whole
                            </Button>
                          )}
                          {relations
                            .filter(({ column }) => column === name)
                            .map((relation) => (
                              <ButtonLink
                                key={relation.table}
                                to={placeOf(relation, cell.text)}
                                icon={relation.kind === 'parent' ? 'up' : 'down'}
                              >
                                {relation.kind === 'parent' ? 'The row of' : 'Its rows of'}{' '}
                                <Text>{relation.table}</Text>
                              </ButtonLink>
                            ))}
                        </>
                      )}
                    </dd>
                  </div>
                );
              })}
            </dl>
          )
        }
      </Loaded>
      {matching.length > most && (
        <Button onPress={() => setMost(most + STEP)}>
          Show more: {countText(matching.length - most)} columns are left
        </Button>
      )}
      {whole !== undefined && <WholeText {...whole} onClose={() => setWhole(undefined)} />}
    </Dialog>
  );
}

/**
 * Returns the address of a row: by its primary key, which it has wherever it stands, or by its place in what is shown
 * where there is no key.
 */
function linkTo({ id, primaryKey }: Table, values: ReadonlyMap<string, Value> | undefined): string {
  const key = primaryKey.map((column) => [column, values?.get(column)] as const);
  const isKnown = key.length > 0 && key.every(([, value]) => value?.isCut === false);
  if (!isKnown) return window.location.href;
  const filters = key.map(([column, value]) => ({ column, operator: 'eq', values: [value?.text ?? ''] }));
  return `${window.location.origin}${BASE}${at`/tables/${id}?filters=${JSON.stringify(filters)}&row=1`}`;
}

/** Splits column names into parts: those of thousands of columns are too long for one address. */
async function inParts(
  names: readonly string[],
  load: (part: readonly string[]) => Promise<{
    readonly rows: readonly (readonly string[])[];
    readonly cut: readonly { readonly column: number }[];
  }>,
): Promise<ReadonlyMap<string, Value>> {
  const found = new Map<string, Value>();
  for (let start = 0; start < names.length; start += STEP) {
    const part = names.slice(start, start + STEP);
    const { rows, cut } = await load(part);
    part.forEach((name, index) => {
      const text = rows[0]?.[index];
      if (text !== undefined) found.set(name, { text, isCut: cut.some(({ column }) => column === index) });
    });
  }
  return found;
}
