import { useState } from 'preact/hooks';
import { client, type Run } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, Select } from '../../ui/field.tsx';
import { ErrorBanner, Loaded, Skeleton } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';
import { useMayRun } from '../../data/run-rights.ts';
import { keyOf, useSources } from '../../data/sources.ts';

/** Asks what is to run, starts it and goes there. */
export function StartRun({
  component,
  configuration,
  asked,
  onClose,
}: {
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  /** Parameters of an earlier run, as defaults. */
  readonly asked?: Run['asked'] | undefined;
  readonly onClose: () => void;
}) {
  const sources = useSources();
  const [chosen, setChosen] = useState(
    component === undefined || configuration === undefined ? '' : keyOf(component, configuration),
  );
  const [only, setOnly] = useState<readonly string[]>(asked?.rows ?? []);
  const [from, setFrom] = useState(asked?.from ?? '');
  const [to, setTo] = useState(asked?.to ?? '');
  const [isRestart, setRestart] = useState(asked?.restart ?? false);
  const source = sources.data?.find(({ key }) => key === chosen);
  const right = useMayRun(source?.component, source?.configuration);
  const action = useAction(async () => {
    if (source === undefined) throw new Error('Choose a source.');
    return await client().runs.start({
      component: source.component,
      configuration: source.configuration,
      ...(only.length === 0 ? {} : { rows: [...only] }),
      ...(from.trim() === '' ? {} : { from: from.trim() }),
      ...(to.trim() === '' ? {} : { to: to.trim() }),
      ...(isRestart ? { restart: true } : {}),
    });
  });
  return (
    <Dialog title="Start a run" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(undefined).then(async (run) => {
            if (run === undefined) return;
            await invalidate('runs');
            onClose();
            navigate(at`/runs/${run.id}`);
          });
        }}
      >
        <Select
          label="Source"
          value={chosen}
          options={[
            { value: '', text: sources.isPending ? 'Loading …' : 'Choose a source' },
            ...(sources.data ?? []).map(({ key, name }) => ({ value: key, text: name })),
          ]}
          onChange={(value) => {
            setChosen(value);
            setOnly([]);
          }}
        />
        {source !== undefined && (
          <RowsOf
            key={source.key}
            component={source.component}
            configuration={source.configuration}
            chosen={only}
            onChange={setOnly}
          />
        )}
        <details class="runs-more" open={from !== '' || to !== '' || isRestart}>
          <summary>A period of time, or from the beginning</summary>
          <div class="stack">
            <div class="runs-pair">
              <Input label="From" value={from} onInput={setFrom} placeholder="2026-01-01" />
              <Input label="To, not included" value={to} onInput={setTo} placeholder="now" />
            </div>
            <p class="muted small">
              Jobs with windows of time ask for this period again. What is remembered for the next run stays.
            </p>
            <Checkbox
              label="Ask for everything again, also where a failed run could be gone on with"
              isChecked={isRestart}
              onChange={setRestart}
            />
          </div>
        </details>
        {action.error !== undefined && <ErrorBanner error={action.error} />}
        {right?.reason !== undefined && (
          <p role="alert">
            <Text>{right.reason}</Text>
          </p>
        )}
        <div class="row">
          <Button kind="primary" type="submit" isDisabled={right?.canRun !== true} isBusy={action.isRunning}>
            Start the run
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Lists the rows of a configuration to choose from; nothing if it has none. */
export function RowsOf({
  component,
  configuration,
  chosen,
  onChange,
}: {
  readonly component: string;
  readonly configuration: string;
  readonly chosen: readonly string[];
  readonly onChange: (rows: readonly string[]) => void;
}) {
  const rows = useQuery({
    key: ['sources', component, configuration, 'rows-to-run'],
    load: async () => await client().configurations(component).rows(configuration).list(),
  });
  return (
    <Loaded query={rows} loading={<Skeleton lines={2} />}>
      {(all) =>
        all.length === 0 ? null : (
          <fieldset class="runs-rows">
            <legend>
              {chosen.length === 0 ? 'Rows: all that are enabled' : `Rows: ${chosen.length} chosen`}
            </legend>
            {all.map(({ id, name, isDisabled }) => (
              <Checkbox
                key={id}
                label={
                  <>
                    <Text>{name === '' ? id : name}</Text>
                    {isDisabled && <span class="muted"> (disabled)</span>}
                  </>
                }
                isChecked={chosen.includes(id)}
                onChange={(isChecked) =>
                  onChange(isChecked ? [...chosen, id] : chosen.filter((each) => each !== id))
                }
              />
            ))}
          </fieldset>
        )
      }
    </Loaded>
  );
}
