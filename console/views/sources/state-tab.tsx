import { useState } from 'preact/hooks';
import { useAction } from '../../data/query.ts';
import { pretty } from '../../data/pretty.ts';
import { useUnsaved } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { parsed } from './document.ts';
import type { Subject } from './subject.ts';

/** Shows the state that the last run left for the next one. */
export function StateTab({ subject }: { readonly subject: Subject }) {
  const kept = pretty(subject.state);
  const [typed, setTyped] = useState<string | undefined>();
  const [isAsking, setAsking] = useState(false);
  const text = typed ?? kept;
  const isChanged = typed !== undefined && typed !== kept;
  useUnsaved(isChanged);
  const save = useAction(async (state: string) => {
    const value = parsed(state);
    if (value === undefined) throw new Error('This is no JSON yet: mend the text, and save then.');
    await subject.updateState(value);
    setTyped(undefined);
    setAsking(false);
    toast(state === '{}' ? 'The state is empty now' : 'State saved');
  });
  return (
    <div class="stack">
      <p class="muted">
        What a run leaves for the next one: how far it came. Without it the next run is a first one, and asks
        for everything.
      </p>
      <JsonEditor label="State" value={text} onChange={setTyped} />
      {save.error !== undefined && <ErrorBanner error={save.error} />}
      <div class="row">
        <Button
          kind="primary"
          isDisabled={!isChanged}
          isBusy={save.isRunning}
          onPress={() => void save.run(text)}
        >
          Save the state
        </Button>
        {isChanged && <Button onPress={() => setTyped(undefined)}>Discard</Button>}
        <Button kind="danger" isDisabled={kept === '{}'} onPress={() => setAsking(true)}>
          Reset the state
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Reset the state?"
          action="Reset the state"
          onConfirm={() => void save.run('{}')}
          onClose={() => setAsking(false)}
          isBusy={save.isRunning}
          error={save.error}
        >
          The next run asks for everything again. A state has no versions: what is there now is gone.
        </Confirm>
      )}
    </div>
  );
}
