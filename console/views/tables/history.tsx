import { useState } from 'preact/hooks';
import { client, StorageError, type Table } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayWrite } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { Count, countText, RelativeTime, Text } from '../../ui/values.tsx';
import { bucketOf } from './table-columns.tsx';
import type { TableDifference, TableVersion } from '../../../src/storage/protocol/version.ts';

/** Changes that are listed: a table of a lake has them for seven days. */
const MOST_CHANGES = 100;

/** Lists the changes of a table, and shows what one of them did. */
export function TableHistory({ table: { id } }: { readonly table: Table }) {
  const { query: place } = usePlace();
  const version = place.get('version');
  const history = useQuery({
    key: ['tables', id, 'versions'],
    load: async () =>
      await client()
        .tables.versions(id, { limit: MOST_CHANGES })
        .catch((error: unknown) => {
          if (error instanceof StorageError && error.serviceCode === 'storage.tables.noVersions') return null;
          throw error;
        }),
    topic: 'tables',
  });
  return (
    <div class="stack">
      {version !== null && <Difference id={id} version={version} />}
      <Loaded query={history}>
        {(versions) =>
          versions === null || versions.length === 0 ? (
            <div class="card">
              <EmptyState title={versions === null ? 'No history is kept' : 'No changes are kept'}>
                {versions === null
                  ? 'Tables in a lake keep their versions for seven days: see gex serve --tables lake.'
                  : 'Versions are kept for seven days.'}
              </EmptyState>
            </div>
          ) : (
            <Changes id={id} versions={versions} shown={version} />
          )
        }
      </Loaded>
    </div>
  );
}

function Changes({
  id,
  versions,
  shown,
}: {
  readonly id: string;
  readonly versions: readonly TableVersion[];
  readonly shown: string | null;
}) {
  const [chosen, setChosen] = useState<number | undefined>();
  const restore = useAction(async (version: number) => {
    await client().tables.restore(id, String(version));
    await invalidate('tables');
    return true;
  });
  return (
    <div class="card tables-scroll">
      <table class="tables-history">
        <thead>
          <tr>
            <th>Change</th>
            <th>When</th>
            <th class="tables-right">Loaded</th>
            <th class="tables-right">Rows</th>
            <th>Run</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((each) => (
            <tr key={each.version} aria-current={String(each.version) === shown}>
              <td>
                <div class="spread">
                  <span>
                    <Text>{each.change}</Text> <span class="muted small">{columnsText(each)}</span>
                  </span>
                  <span class="tables-steps">
                    <Button kind="plain" onPress={() => setQuery({ version: String(each.version) })}>
                      What changed
                    </Button>
                    {mayWrite(bucketOf(id)) && each !== versions[0] && each.rowsCount !== null && (
                      <Button kind="plain" onPress={() => setChosen(each.version)}>
                        Set back to it
                      </Button>
                    )}
                  </span>
                </div>
              </td>
              <td>
                <RelativeTime value={each.created} />
              </td>
              <td class="tables-right">
                {each.importedRowsCount !== null && <Count value={each.importedRowsCount} />}
              </td>
              <td class="tables-right">{each.rowsCount !== null && <Count value={each.rowsCount} />}</td>
              <td>
                {each.runId !== null && (
                  <Link to={at`/runs/${each.runId}`}>
                    <Text>{each.runId}</Text>
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {chosen !== undefined && (
        <Confirm
          title={`Set the table back to version ${chosen}?`}
          action="Set it back"
          isBusy={restore.isRunning}
          error={restore.error}
          onClose={() => setChosen(undefined)}
          onConfirm={() =>
            void restore.run(chosen).then((isDone) => {
              if (isDone !== true) return;
              setChosen(undefined);
              toast('The table is as it was then.');
            })
          }
        >
          Columns, key and rows become those of then. It is one more change: the rows of now stay in the
          history.
        </Confirm>
      )}
    </div>
  );
}

function Difference({ id, version }: { readonly id: string; readonly version: string }) {
  const found = useQuery({
    key: ['tables', id, 'difference', version],
    load: async () => await client().tables.difference(id, { version: Number(version) }),
  });
  return (
    <section class="card tables-difference" aria-label="What changed">
      <h2>What version {version} changed</h2>
      <Loaded query={found}>{(difference) => <DifferentRows of={difference} />}</Loaded>
    </section>
  );
}

const SIGNS = { added: '+', removed: '−', changed: '~' } as const;

function DifferentRows({ of }: { readonly of: TableDifference }) {
  const { columns, rows, addedCount, removedCount, changedCount } = of;
  return (
    <div class="stack">
      <p class="muted">
        {countText(addedCount)} added, {countText(removedCount)} removed, {countText(changedCount)} changed
        {rows.length < addedCount + removedCount + changedCount && `; ${countText(rows.length)} are shown`}
      </p>
      {rows.length > 0 && (
        <div class="tables-scroll">
          <table class="tables-history">
            <thead>
              <tr>
                <th>Row</th>
                {columns.map((name) => (
                  <th key={name}>
                    <Text>{name}</Text>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ change, before, after }, i) => (
                <tr key={i} class={`tables-${change}`}>
                  <td class="tables-sign">
                    <span aria-hidden="true">{SIGNS[change]}</span> {change}
                  </td>
                  {columns.map((name, at) => (
                    <td key={name}>
                      {change === 'changed' && before?.[at] !== after?.[at] && (
                        <>
                          <del>
                            <Text>{brief(before?.[at])}</Text>
                          </del>{' '}
                        </>
                      )}
                      <Text>{brief((after ?? before)?.[at])}</Text>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

const brief = (cell = ''): string => (cell.length > 100 ? `${cell.slice(0, 100).toWellFormed()}…` : cell);

function columnsText({ addedColumns, droppedColumns }: TableVersion): string {
  return [...addedColumns.map((name) => `+${name}`), ...droppedColumns.map((name) => `−${name}`)]
    .slice(0, 5)
    .join(' ');
}
