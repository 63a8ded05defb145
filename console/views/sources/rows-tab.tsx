import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { client, type Configuration, type ConfigurationRow } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm, FormDialog } from '../../ui/dialog.tsx';
import { Checkbox, Input } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { EmptyState, ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';

/** Lists the rows in the order in which they run: moved by dragging, or by the buttons beside them. */
export function RowsTab({
  component,
  source,
}: {
  readonly component: string;
  readonly source: Configuration;
}) {
  const canChange = mayUse(component);
  const rows = client().configurations(component).rows(source.id);
  const [moved, setMoved] = useState<readonly string[] | undefined>();
  const [dragged, setDragged] = useState<string | undefined>();
  const [over, setOver] = useState<string | undefined>();
  const [isAdding, setAdding] = useState(false);
  const [gone, setGone] = useState<ConfigurationRow | undefined>();
  const ids = source.rows.map(({ id }) => id);
  const order = moved !== undefined && moved.length === ids.length ? moved : ids;
  const sorted = order.flatMap((id) => source.rows.find((row) => row.id === id) ?? []);

  const reorder = useAction(async (next: readonly string[]) => {
    setMoved(next);
    try {
      await client()
        .configurations(component)
        .update(source.id, { rowsSortOrder: [...next], changeDescription: 'Rows reordered' });
    } finally {
      await invalidate('sources');
      setMoved(undefined);
    }
  });
  const toggle = useAction(async (row: ConfigurationRow) => {
    await rows.update(row.id, { isDisabled: !row.isDisabled });
    await invalidate('sources');
  });
  const remove = useAction(async (row: ConfigurationRow) => {
    await rows.delete(row.id);
    await invalidate('sources');
    setGone(undefined);
    toast('The row is deleted');
  });

  // Moved in the page, a button loses the focus: whoever goes on by keyboard is still at it.
  const focused = useRef<HTMLElement | undefined>(undefined);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) focused.current?.focus();
    if (!reorder.isRunning) focused.current = undefined;
  });

  function move(id: string, to: number): void {
    focused.current = document.activeElement instanceof HTMLElement ? document.activeElement : undefined;
    if (to < 0 || to >= order.length || reorder.isRunning) return;
    const rest = order.filter((each) => each !== id);
    void reorder.run([...rest.slice(0, to), id, ...rest.slice(to)]);
  }

  const error = reorder.error ?? toggle.error;
  return (
    <div class="stack">
      <div class="spread">
        <p class="muted">Each row runs with the settings of the source under its own, one after the other.</p>
        {canChange && (
          <Button icon="plus" onPress={() => setAdding(true)}>
            Add a row
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorBanner error={error} />}
      {sorted.length === 0 ? (
        <div class="card">
          <EmptyState icon="source" title="There are no rows">
            Without rows the source runs as it is. With rows it runs once for each: one for every endpoint,
            for example.
          </EmptyState>
        </div>
      ) : (
        <ol class="card rows" aria-label="Rows in their order" aria-busy={reorder.isRunning}>
          {sorted.map((row, index) => (
            <li
              key={row.id}
              class={`rows-item${over === row.id ? ' rows-over' : ''}${dragged === row.id ? ' rows-dragged' : ''}`}
              draggable={canChange}
              onDragStart={(event) => {
                event.dataTransfer?.setData('text/plain', row.id);
                if (event.dataTransfer !== null) event.dataTransfer.effectAllowed = 'move';
                setDragged(row.id);
              }}
              onDragOver={(event) => {
                if (dragged === undefined) return;
                event.preventDefault();
                setOver(row.id);
              }}
              onDrop={(event) => {
                event.preventDefault();
                if (dragged !== undefined && dragged !== row.id) move(dragged, index);
                setOver(undefined);
                setDragged(undefined);
              }}
              onDragEnd={() => {
                setOver(undefined);
                setDragged(undefined);
              }}
            >
              {canChange && (
                <span class="rows-grip" title="Drag to another place">
                  <Icon name="grip" />
                </span>
              )}
              <span class="rows-name">
                <Link to={at`/sources/${component}/${source.id}/rows/${row.id}`}>
                  <Text>{row.name === '' ? row.id : row.name}</Text>
                </Link>
                <span class="muted small">
                  <Text>{row.id}</Text> · version {row.version} · <RelativeTime value={row.created} />
                </span>
              </span>
              <Checkbox
                isSwitch
                label={
                  <>
                    enabled<span class="visually-hidden"> {row.name === '' ? row.id : row.name}</span>
                  </>
                }
                isChecked={!row.isDisabled}
                isDisabled={!canChange || toggle.isRunning}
                onChange={() => void toggle.run(row)}
              />
              {canChange && (
                <span class="rows-buttons">
                  <IconButton
                    icon="up"
                    label={`Move up: ${row.name === '' ? row.id : row.name}`}
                    isDisabled={index === 0}
                    onPress={() => move(row.id, index - 1)}
                  />
                  <IconButton
                    icon="down"
                    label={`Move down: ${row.name === '' ? row.id : row.name}`}
                    isDisabled={index === sorted.length - 1}
                    onPress={() => move(row.id, index + 1)}
                  />
                  <IconButton
                    icon="trash"
                    label={`Delete: ${row.name === '' ? row.id : row.name}`}
                    onPress={() => setGone(row)}
                  />
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
      {isAdding && <AddRow component={component} source={source} onClose={() => setAdding(false)} />}
      {gone !== undefined && (
        <Confirm
          title="Delete the row?"
          action="Delete the row"
          onConfirm={() => void remove.run(gone)}
          onClose={() => setGone(undefined)}
          isBusy={remove.isRunning}
          error={remove.error}
        >
          <Text>{gone.name === '' ? gone.id : gone.name}</Text> and its state are gone then. An earlier
          version of the source has it still: rolling back brings it back.
        </Confirm>
      )}
    </div>
  );
}

function AddRow({
  component,
  source,
  onClose,
}: {
  readonly component: string;
  readonly source: Configuration;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [endpoint, setEndpoint] = useState('');
  const add = useAction(async () => {
    const jobs = endpoint.trim() === '' ? [] : [{ endpoint: endpoint.trim() }];
    const row = await client()
      .configurations(component)
      .rows(source.id)
      .create({ name: name.trim(), configuration: { parameters: { config: { jobs } } } });
    await invalidate('sources');
    navigate(at`/sources/${component}/${source.id}/rows/${row.id}`);
  });
  return (
    <FormDialog
      title="Add a row"
      action="Add the row"
      isReady={name.trim() !== ''}
      isBusy={add.isRunning}
      error={add.error}
      onSubmit={() => void add.run(undefined)}
      onClose={onClose}
    >
      <Input label="Name" value={name} onInput={setName} isRequired hasFocus />
      <Input label="Endpoint" value={endpoint} onInput={setEndpoint} isMono placeholder="users" />
    </FormDialog>
  );
}
