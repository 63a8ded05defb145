import { useMemo, useState } from 'preact/hooks';
import { pretty } from '../../data/pretty.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/field.tsx';
import { Banner } from '../../ui/states.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';
import { differences, merged, wordsFor, type Choice } from './difference.ts';
import { DifferenceList, SideBySide } from './difference-view.tsx';
import type { Draft } from './draft.ts';
import { textOf, type Stored } from './subject.ts';

/**
 * Shows a conflict with a version that someone else has saved: both are shown, and nothing of either is lost before the
 * choice.
 */
export function ConflictBanner({ draft }: { readonly draft: Draft }) {
  const [isOpen, setOpen] = useState(false);
  const { theirs } = draft;
  if (theirs === undefined) return null;
  return (
    <>
      <Banner kind="warn" action={<Button onPress={() => setOpen(true)}>Look at both</Button>}>
        <strong>
          <Text>{theirs.by}</Text> has changed this meanwhile
        </strong>
        , <RelativeTime value={theirs.at} />: version {theirs.version}. What you have typed is still here, and
        not saved.
      </Banner>
      {isOpen && <ConflictDialog draft={draft} theirs={theirs} onClose={() => setOpen(false)} />}
    </>
  );
}

function ConflictDialog({
  draft,
  theirs,
  onClose,
}: {
  readonly draft: Draft;
  readonly theirs: Stored;
  readonly onClose: () => void;
}) {
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const { value: mine, base, text } = draft;
  const both = useMemo(
    () => (mine === undefined ? undefined : merged(base.configuration, mine, theirs.configuration, choices)),
    [mine, base, theirs, choices],
  );
  const take = (next: string): void => {
    draft.rebase(next);
    onClose();
  };
  return (
    <Dialog title="Two people have changed this" onClose={onClose} form="wide">
      <div class="conflict-sides">
        <section>
          <h3>Theirs, since version {base.version}</h3>
          <DifferenceList label="Their changes" all={differences(base.configuration, theirs.configuration)} />
        </section>
        <section>
          <h3>Yours, not saved</h3>
          {mine === undefined ? (
            <p class="muted">Your text is no JSON yet: close this, mend it, and come back; or take theirs.</p>
          ) : (
            <DifferenceList label="Your changes" all={differences(base.configuration, mine)} />
          )}
        </section>
      </div>
      {both?.clashes.map(({ path, keys, mine: own, theirs: other }) => (
        <Select
          key={path}
          label={`Both have changed ${path === '' ? 'all of it' : path}`}
          value={choices.get(path) ?? 'mine'}
          options={[
            { value: 'mine', text: `Yours: ${wordsFor(own, keys)}` },
            { value: 'theirs', text: `Theirs: ${wordsFor(other, keys)}` },
          ]}
          onChange={(choice) => setChoices(new Map([...choices, [path, choice]]))}
        />
      ))}
      {both !== undefined && (
        <details>
          <summary>Theirs, and both together, beside each other</summary>
          <SideBySide
            before={textOf(theirs)}
            after={pretty(both.value)}
            labels={['Theirs', 'Both together']}
          />
        </details>
      )}
      <p class="muted small">Nothing is saved by this: what you choose is what you go on with.</p>
      <div class="row">
        {both !== undefined && (
          <Button kind="primary" onPress={() => take(pretty(both.value))}>
            Go on with both
          </Button>
        )}
        <Button onPress={() => take(text)}>Go on with mine alone</Button>
        <Button kind="danger" onPress={() => take(textOf(theirs))}>
          Take theirs, and drop mine
        </Button>
      </div>
    </Dialog>
  );
}
