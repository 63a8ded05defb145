import { useMemo } from 'preact/hooks';
import { TrialSection } from '../../ui/trial/trial-section.tsx';
import { useTrial } from '../../ui/trial/use-trial.ts';
import { pretty } from '../../data/pretty.ts';
import type { Draft } from './draft.ts';
import type { Subject } from './subject.ts';
import { useLogins } from './use-logins.ts';

/** Tries a source, or one of its rows, as it stands in the editor: with what is not saved yet. */
export function TryTab({
  component,
  id,
  subject,
  draft,
}: {
  readonly component: string;
  /** Id of the configuration. */
  readonly id: string;
  readonly subject: Subject;
  readonly draft: Draft;
}) {
  const { value } = draft;
  const asked = useMemo(() => (value === undefined ? undefined : subject.trial(value)), [value, subject]);
  const logins = useLogins(component, id);
  const blocked = asked === undefined ? 'What is no JSON cannot be tried yet.' : blockedBy(logins);
  const trial = useTrial(
    blocked === undefined ? asked?.document : undefined,
    asked === undefined ? '' : pretty(asked.document),
    {
      place: {
        component,
        configuration: id,
        ...(asked?.row === undefined ? {} : { row: asked.row }),
      },
    },
  );
  return (
    <div class="stack">
      <p class="muted">
        {draft.isChanged ? 'As it is in the editor, with what is not saved.' : 'As it is saved.'} It begins
        where a first run does, and leaves tables and state as they are.
      </p>
      <TrialSection trial={trial} blocked={blocked} />
    </div>
  );
}

function blockedBy({ data, error }: ReturnType<typeof useLogins>): string | undefined {
  if (error !== null) return 'It cannot be told whether runs renew its login: see above.';
  if (data === undefined) return 'Looking at its logins…';
  // Renewed in a trial, the login that runs keep would be lost: many providers take a refresh token once.
  if (data.length > 0)
    return 'Its login is renewed from run to run, and a trial could use it up: run it in place of that.';
  return undefined;
}
