import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useCheck } from '../../data/check.ts';
import type { ConfigurationProblem } from '../../data/client.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { pretty } from '../../data/pretty.ts';
import { mayUse } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Input } from '../../ui/field.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { ProblemList } from '../../ui/problem-list.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { Tabs, type Tab } from '../../ui/tabs.tsx';
import { ConflictBanner } from './conflict.tsx';
import { useDraft, type Draft } from './draft.ts';
import { CommonForm } from './form.tsx';
import { LazyTryTab } from './lazy-try-tab.tsx';
import { StateTab } from './state-tab.tsx';
import type { Subject } from './subject.ts';
import { VersionsTab } from './versions-tab.tsx';

type Name = 'json' | 'overview' | 'rows' | 'settings' | 'state' | 'try' | 'versions';

/** Tabs that a source and a row share: the settings as a form and as JSON, a trial, the state and the versions. */
export function Content({
  component,
  id,
  subject,
  queryKey,
  rows,
  overview,
}: {
  readonly component: string;
  /** Id of the configuration. */
  readonly id: string;
  readonly subject: Subject;
  readonly queryKey: readonly string[];
  /** The tab of the rows, for what has some. */
  readonly rows?: { readonly count: number; readonly show: () => ComponentChildren };
  /** The first tab, for what has one. */
  readonly overview?: () => ComponentChildren;
}) {
  const canChange = mayUse(component);
  const draft = useDraft(subject);
  const check = useCheck({
    component,
    configuration: id,
    text: draft.text,
    whole: (text) => subject.whole(text),
  });
  const [goTo, setGoTo] = useState<{ line?: number | undefined; column?: number | undefined } | undefined>();
  const chosen = usePlace().query.get('tab');
  const tabs: Tab<Name>[] = [
    ...(overview === undefined ? [] : [{ name: 'overview', text: 'Overview' } as const]),
    { name: 'settings', text: 'Settings' },
    { name: 'json', text: 'JSON' },
    ...(rows === undefined ? [] : [{ name: 'rows', text: `Rows (${rows.count})` } as const]),
    ...(canChange ? [{ name: 'try', text: 'Try it' } as const] : []),
    { name: 'state', text: 'State' },
    { name: 'versions', text: 'Versions' },
  ];
  const first = tabs[0]?.name ?? 'settings';
  const current = tabs.find(({ name }) => name === chosen)?.name ?? first;
  // Kept while other parts are shown: what is changed there is tried with the answers that were recorded.
  const [wasTried, setTried] = useState(false);
  const hasTrial = wasTried || current === 'try';
  useEffect(() => setTried(hasTrial), [hasTrial]);
  const show = (name: Name): void => setQuery({ tab: name === first ? undefined : name });
  const go = ({ line, column }: ConfigurationProblem): void => {
    show('json');
    setGoTo({ line, column });
  };
  return (
    <div class="stack">
      <ConflictBanner draft={draft} />
      <Tabs label="Parts of the source" tabs={tabs} current={current} onChange={show}>
        {current === 'overview' && overview?.()}
        {current === 'settings' && (
          <div class="stack">
            <fieldset class="source-settings" disabled={!canChange}>
              <CommonForm key={draft.generation} draft={draft} isRow={subject.kind === 'row'} />
            </fieldset>
            <ProblemList check={check} onGo={go} />
          </div>
        )}
        {current === 'json' && !canChange && (
          <JsonEditor label="Configuration as JSON" value={draft.text} isReadOnly />
        )}
        {current === 'json' && canChange && (
          <div class="stack">
            <p class="muted small">
              Ctrl and Space offer what may stand at the cursor. The form under Settings is the same document.
              Values of keys with a # are encrypted when they are saved.
            </p>
            <JsonEditor
              key={draft.generation}
              label="Configuration as JSON"
              hasSchema
              value={draft.text}
              onChange={draft.setText}
              remarks={check.problems}
              goTo={goTo}
            />
            <ProblemList check={check} onGo={go} />
          </div>
        )}
        {current === 'rows' && rows?.show()}
        {hasTrial && (
          <div hidden={current !== 'try'}>
            <LazyTryTab component={component} id={id} subject={subject} draft={draft} />
          </div>
        )}
        {current === 'state' &&
          (canChange ? (
            <StateTab subject={subject} />
          ) : (
            <JsonEditor label="State" value={pretty(subject.state)} isReadOnly />
          ))}
        {current === 'versions' && (
          <VersionsTab
            component={component}
            id={id}
            subject={subject}
            queryKey={queryKey}
            isChanged={draft.isChanged}
          />
        )}
      </Tabs>
      {(draft.isChanged || draft.error !== undefined) && (
        <SaveBar draft={draft} hasErrors={hasErrors(check.problems)} />
      )}
    </div>
  );
}

const hasErrors = (problems: readonly ConfigurationProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error');

function SaveBar({ draft, hasErrors: isWrong }: { readonly draft: Draft; readonly hasErrors: boolean }) {
  const isBroken = draft.value === undefined;
  return (
    <form
      class="save-bar card"
      aria-label="Save"
      onSubmit={(event) => {
        event.preventDefault();
        void draft.save();
      }}
    >
      {draft.error !== undefined && <ErrorBanner error={draft.error} />}
      <div class="save-bar-fields">
        <Input label="What did you change? (optional)" value={draft.note} onInput={draft.setNote} />
        <Button
          kind="primary"
          type="submit"
          isBusy={draft.isSaving}
          isDisabled={isBroken || draft.theirs !== undefined || !draft.isChanged}
        >
          {isWrong && !isBroken ? 'Save with errors' : 'Save'}
        </Button>
        <Button onPress={draft.discard} isDisabled={!draft.isChanged}>
          Discard
        </Button>
      </div>
      {isBroken && <p class="small muted">What is no JSON cannot be saved yet.</p>}
    </form>
  );
}
