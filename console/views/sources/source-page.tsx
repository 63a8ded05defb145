import { useState } from 'preact/hooks';
import { client, type Configuration, type ConfigurationRow } from '../../data/client.ts';
import { forget, invalidate, useAction, useQuery } from '../../data/query.ts';
import { currentSession, mayUse } from '../../data/session.ts';
import { useMayRun } from '../../data/run-rights.ts';
import { runsOf } from '../../data/sources.ts';
import { at, navigate } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Confirm, FormDialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, TextArea } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { Text } from '../../ui/values.tsx';
import { Content } from './content.tsx';
import { Logins } from './logins.tsx';
import { Overview } from './overview.tsx';
import { RowsTab } from './rows-tab.tsx';
import { rowSubject, sourceSubject } from './subject.ts';

const LOOK_MS = 15_000;

function useSource(component: string, id: string) {
  return useQuery({
    key: ['sources', component, id],
    load: async () => await client().configurations(component).detail(id),
    // So that one sees soon when someone else has changed it.
    everyMs: LOOK_MS,
  });
}

export function SourcePage({ component, id }: { readonly component: string; readonly id: string }) {
  const query = useSource(component, id);
  const source = query.data;
  return (
    <Page
      title={source?.name ?? id}
      crumbs={[{ to: '/sources', text: 'Sources' }]}
      about={
        source === undefined || source.description === '' ? undefined : <Text>{source.description}</Text>
      }
      actions={
        source &&
        (mayUse(component) ? (
          <Actions component={component} source={source} />
        ) : (
          <RunsLink {...{ component, id }} />
        ))
      }
    >
      {source !== undefined && <Logins component={component} id={id} />}
      <Loaded query={query}>
        {(found) => (
          <Content
            key={`${component}/${id}`}
            component={component}
            id={id}
            subject={sourceSubject(component, found)}
            queryKey={['sources', component, id]}
            overview={() => <Overview component={component} id={id} />}
            rows={{
              count: found.rows.length,
              show: () => <RowsTab component={component} source={found} />,
            }}
          />
        )}
      </Loaded>
    </Page>
  );
}

export function RowPage({
  component,
  id,
  row,
}: {
  readonly component: string;
  readonly id: string;
  readonly row: string;
}) {
  const query = useSource(component, id);
  const found = query.data?.rows.find((each) => each.id === row);
  const up = at`/sources/${component}/${id}`;
  return (
    <Page
      title={found === undefined || found.name === '' ? row : found.name}
      crumbs={[
        { to: '/sources', text: 'Sources' },
        { to: `${up}?tab=rows`, text: query.data?.name ?? id },
      ]}
      about={found === undefined || found.description === '' ? undefined : <Text>{found.description}</Text>}
      actions={found && mayUse(component) && <RowActions component={component} id={id} row={found} />}
    >
      <Loaded query={query}>
        {(source) =>
          found === undefined ? (
            <EmptyState
              title="There is no such row"
              action={<ButtonLink to={`${up}?tab=rows`}>Go to the rows</ButtonLink>}
            >
              It may have been deleted: an earlier version of the source has it still.
            </EmptyState>
          ) : (
            <Content
              key={`${component}/${id}/${row}`}
              component={component}
              id={id}
              subject={rowSubject(component, source, found)}
              queryKey={['sources', component, id, 'rows', row]}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

function Actions({ component, source }: { readonly component: string; readonly source: Configuration }) {
  const [open, setOpen] = useState<'copy' | 'delete' | 'edit' | undefined>();
  const close = (): void => setOpen(undefined);
  const group = client().configurations(component);
  const { id } = source;
  const toggle = useAction(async () => {
    await group.update(id, { isDisabled: !source.isDisabled });
    await invalidate('sources');
  });
  const run = useAction(async () => {
    const started = await client().runs.start({ component, configuration: id });
    await invalidate('runs');
    navigate(at`/runs/${started.id}`);
  });
  const remove = useAction(async () => {
    await group.delete(id);
    toast('The source is in the trash');
    navigate('/sources');
    forget('sources', component, id);
    await invalidate('sources');
  });
  const error = toggle.error ?? run.error;
  const right = useMayRun(component, id);
  return (
    <>
      <Checkbox
        isSwitch
        label="enabled"
        isChecked={!source.isDisabled}
        isDisabled={toggle.isRunning}
        onChange={() => void toggle.run(undefined)}
      />
      <MayNotRun right={right} />
      {currentSession().runs && right?.canRun === true && (
        <Button
          kind="primary"
          icon="run"
          isBusy={run.isRunning}
          isDisabled={source.isDisabled}
          onPress={() => void run.run(undefined)}
        >
          Run now
        </Button>
      )}
      <RunsLink component={component} id={id} />
      <Button icon="edit" onPress={() => setOpen('edit')}>
        Rename
      </Button>
      <Button icon="copy" onPress={() => setOpen('copy')}>
        Copy
      </Button>
      <Button kind="danger" icon="trash" onPress={() => setOpen('delete')}>
        Delete
      </Button>
      {error !== undefined && <ErrorBanner error={error} />}
      {open === 'edit' && (
        <Naming
          name={source.name}
          description={source.description}
          save={async (names) => {
            await group.update(id, names);
            await invalidate('sources');
          }}
          onClose={close}
        />
      )}
      {open === 'copy' && <Copying component={component} source={source} onClose={close} />}
      {open === 'delete' && (
        <Confirm
          title="Delete the source?"
          action="Delete the source"
          onConfirm={() => void remove.run(undefined)}
          onClose={close}
          isBusy={remove.isRunning}
          error={remove.error}
        >
          <Text>{source.name}</Text> goes to the trash, and does not run any more. It can be taken out again.
          Its tables stay.
        </Confirm>
      )}
    </>
  );
}

/** Says why a token may not run a source, in the place of the button. */
function MayNotRun({ right }: { readonly right: ReturnType<typeof useMayRun> }) {
  if (right?.reason === undefined) return null;
  return (
    <span class="muted small">
      <Text>{right.reason}</Text>
    </span>
  );
}

function RunsLink({ component, id }: { readonly component: string; readonly id: string }) {
  return (
    <ButtonLink to={runsOf(component, id)} icon="clock">
      Runs
    </ButtonLink>
  );
}

function RowActions({
  component,
  id,
  row,
}: {
  readonly component: string;
  readonly id: string;
  readonly row: ConfigurationRow;
}) {
  const [isOpen, setOpen] = useState(false);
  const rows = client().configurations(component).rows(id);
  const toggle = useAction(async () => {
    await rows.update(row.id, { isDisabled: !row.isDisabled });
    await invalidate('sources');
  });
  const run = useAction(async () => {
    const started = await client().runs.start({ component, configuration: id, rows: [row.id] });
    await invalidate('runs');
    navigate(at`/runs/${started.id}`);
  });
  const error = toggle.error ?? run.error;
  const right = useMayRun(component, id);
  return (
    <>
      <Checkbox
        isSwitch
        label="enabled"
        isChecked={!row.isDisabled}
        isDisabled={toggle.isRunning}
        onChange={() => void toggle.run(undefined)}
      />
      <MayNotRun right={right} />
      {currentSession().runs && right?.canRun === true && (
        <Button kind="primary" icon="run" isBusy={run.isRunning} onPress={() => void run.run(undefined)}>
          Run this row
        </Button>
      )}
      <Button icon="edit" onPress={() => setOpen(true)}>
        Rename
      </Button>
      {error !== undefined && <ErrorBanner error={error} />}
      {isOpen && (
        <Naming
          name={row.name}
          description={row.description}
          save={async (names) => {
            await rows.update(row.id, names);
            await invalidate('sources');
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Naming({
  name,
  description,
  save,
  onClose,
}: {
  readonly name: string;
  readonly description: string;
  readonly save: (names: { readonly name: string; readonly description: string }) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [names, setNames] = useState({ name, description });
  const action = useAction(async () => {
    await save({ name: names.name.trim(), description: names.description });
    onClose();
  });
  return (
    <FormDialog
      title="Name and description"
      action="Save the name"
      isReady={names.name.trim() !== ''}
      isBusy={action.isRunning}
      error={action.error}
      onSubmit={() => void action.run(undefined)}
      onClose={onClose}
    >
      <Input
        label="Name"
        value={names.name}
        onInput={(value) => setNames({ ...names, name: value })}
        isRequired
        hasFocus
      />
      <TextArea
        label="Description"
        value={names.description}
        onInput={(value) => setNames({ ...names, description: value })}
      />
    </FormDialog>
  );
}

function Copying({
  component,
  source,
  onClose,
}: {
  readonly component: string;
  readonly source: Configuration;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(`${source.name} (copy)`);
  const action = useAction(async () => {
    const made = await client()
      .configurations(component)
      .copy(source.id, source.version, { name: name.trim() });
    await invalidate('sources');
    toast('Copied');
    navigate(at`/sources/${component}/${made.id}`);
  });
  return (
    <FormDialog
      title="Copy the source"
      action="Copy the source"
      isReady={name.trim() !== ''}
      isBusy={action.isRunning}
      error={action.error}
      onSubmit={() => void action.run(undefined)}
      onClose={onClose}
    >
      <p class="muted">With its rows and their states. What is typed and not saved is not copied.</p>
      <Input label="Name of the copy" value={name} onInput={setName} isRequired hasFocus />
    </FormDialog>
  );
}
