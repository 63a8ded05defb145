import { useState } from 'preact/hooks';
import { useAction, useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { pretty } from '../../data/pretty.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Badge, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';
import type { Json } from '../../../src/lib/json/value.ts';
import { differences } from './difference.ts';
import { DifferenceList, SideBySide } from './difference-view.tsx';
import type { Subject, VersionInfo } from './subject.ts';
import { Effect, useVersionEffects } from './version-effect.tsx';

const PAGE = 50;

/** Shows all versions with author, time and reason, compares any two, and restores one. */
export function VersionsTab({
  component,
  id,
  subject,
  queryKey,
  isChanged,
}: {
  readonly component: string;
  /** Id of the configuration. */
  readonly id: string;
  readonly subject: Subject;
  readonly queryKey: readonly string[];
  /** Something is typed and not saved. */
  readonly isChanged: boolean;
}) {
  const { query } = usePlace();
  const [count, setCount] = useState(PAGE);
  const [back, setBack] = useState<number | undefined>();
  // Runs go by the version of the source, and rows have versions of their own.
  const isOfRuns = subject.kind === 'source';
  const effects = useVersionEffects(component, id, isOfRuns);
  const now = subject.stored.version;
  const to = Number(query.get('to') ?? now);
  const from = Number(query.get('from') ?? Math.max(1, to - 1));
  const list = useQuery({
    key: [...queryKey, 'versions', now, count],
    load: async () => await subject.versions(0, count),
    keepsPrevious: true,
  });
  return (
    <Loaded query={list}>
      {(versions) => (
        <div class="stack">
          {versions.length > 1 && (
            <>
              <div class="versions-choice">
                <VersionSelect
                  label="Compare"
                  versions={versions}
                  value={from}
                  onChange={(version) => compare({ from: version })}
                />
                <VersionSelect
                  label="with"
                  versions={versions}
                  value={to}
                  onChange={(version) => compare({ to: version })}
                />
              </div>
              <Comparison {...{ subject, queryKey, from, to }} />
            </>
          )}
          <ol class="card versions" aria-label="Versions">
            {versions.map((version) => (
              <li key={version.version}>
                <span class="version-number">{version.version}</span>
                <span class="version-words">
                  <Text>{version.note === '' ? 'Changed' : version.note}</Text>
                  <span class="muted small">
                    <Text>{version.by}</Text>, <RelativeTime value={version.created} />
                  </span>
                  {isOfRuns && <Effect effect={effects.get(version.version)} />}
                </span>
                <span class="version-buttons">
                  {version.version > 1 && (
                    <Button
                      kind="plain"
                      onPress={() => compare({ from: version.version - 1, to: version.version })}
                    >
                      What changed in {version.version}
                    </Button>
                  )}
                  {version.version === now ? (
                    <Badge tone="good">current</Badge>
                  ) : (
                    mayUse(component) && (
                      <Button onPress={() => setBack(version.version)}>Roll back to {version.version}</Button>
                    )
                  )}
                </span>
              </li>
            ))}
          </ol>
          {versions.length === count && (
            <Button onPress={() => setCount(count + 4 * PAGE)}>Show older ones</Button>
          )}
          {back !== undefined && (
            <RollBack
              subject={subject}
              version={back}
              isChanged={isChanged}
              onClose={() => setBack(undefined)}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}

function compare(versions: { readonly from?: number; readonly to?: number }): void {
  setQuery(Object.fromEntries(Object.entries(versions).map(([name, value]) => [name, String(value)])));
}

function VersionSelect({
  label,
  versions,
  value,
  onChange,
}: {
  readonly label: string;
  readonly versions: readonly VersionInfo[];
  readonly value: number;
  readonly onChange: (version: number) => void;
}) {
  const numbers = versions.map(({ version }) => version);
  const all = numbers.includes(value) ? numbers : [...numbers, value];
  return (
    <Select
      label={label}
      value={String(value)}
      options={all.map((version) => ({ value: String(version), text: `Version ${version}` }))}
      onChange={(version) => onChange(Number(version))}
    />
  );
}

function Comparison({
  subject,
  queryKey,
  from,
  to,
}: {
  readonly subject: Subject;
  readonly queryKey: readonly string[];
  readonly from: number;
  readonly to: number;
}) {
  const [isBeside, setBeside] = useState(false);
  const pair = useQuery({
    key: [...queryKey, 'compared', from, to],
    load: async (): Promise<readonly [Json, Json]> =>
      await Promise.all([subject.version(from), subject.version(to)]),
  });
  return (
    <section class="card comparison" aria-label={`From version ${from} to version ${to}`}>
      <h2>
        From version {from} to {to}
      </h2>
      <Loaded query={pair}>
        {([before, after]) => (
          <>
            <DifferenceList label="Differences" all={differences(before, after)} />
            {isBeside ? (
              <SideBySide
                before={pretty(before)}
                after={pretty(after)}
                labels={[`Version ${from}`, `Version ${to}`]}
              />
            ) : (
              <div>
                <Button onPress={() => setBeside(true)}>Show both texts</Button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function RollBack({
  subject,
  version,
  isChanged,
  onClose,
}: {
  readonly subject: Subject;
  readonly version: number;
  readonly isChanged: boolean;
  readonly onClose: () => void;
}) {
  const [note, setNote] = useState('');
  const action = useAction(async () => {
    await subject.rollback(version, note.trim());
    toast(`Rolled back to version ${version}`);
    onClose();
  });
  return (
    <Confirm
      title={`Roll back to version ${version}?`}
      action="Roll back"
      onConfirm={() => void action.run(undefined)}
      onClose={onClose}
      isBusy={action.isRunning}
      error={action.error}
    >
      <div class="stack">
        <p>
          A new version is made that is like version {version}. The versions between stay, and so does the
          state.
        </p>
        {isChanged && (
          <p>What you have typed and not saved stays as well; you are asked what to do with both.</p>
        )}
        <Input label="Why (optional)" value={note} onInput={setNote} />
      </div>
    </Confirm>
  );
}
