import { useState } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import { isList, type Json } from '../../../src/lib/json/value.ts';
import { webalizeDisplayName } from '../../../src/lib/names.ts';
import { client } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { currentSession } from '../../data/session.ts';
import { at } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Input } from '../../ui/field.tsx';
import { Banner, ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { COMPONENT } from './component.ts';
import { textAt, valueAt } from './edit-json.ts';
import { bucketOf, hasRows, withBucket } from './plan.ts';

export interface SaveFormProps {
  /** With its secrets in place. */
  readonly document: Json;
  /** A name that is proposed. */
  readonly proposed: string;
  /** Logins of persons that were made for it, encrypted: its runs go on with them. */
  readonly logins?: string | undefined;
  /** With the place to go on to. */
  readonly onSaved: (to: string) => void;
}

/** Makes the source, and starts its first run. */
export function SaveForm({ document, proposed, logins, onSaved }: SaveFormProps) {
  const [name, setName] = useState(proposed);
  const [ownId, setOwnId] = useState<string | undefined>();
  const [ownBucket, setOwnBucket] = useState<string | undefined>();
  const id = ownId ?? webalizeDisplayName(name).toLowerCase();
  const bucket = ownBucket ?? (bucketOf(document) || webalizeDisplayName(name).toLowerCase());
  const action = useAction(async (isRun: boolean) => {
    const configurations = client().configurations(COMPONENT);
    const whole = withBucket(document, bucket);
    const root = hasRows(whole) ? (valueAt(whole, ['configuration']) ?? {}) : whole;
    const state = logins === undefined ? undefined : { component: { logins: parseExact(logins) } };
    const made = await configurations.create({
      name,
      configurationId: id,
      configuration: root,
      ...(state === undefined ? {} : { state }),
    });
    const rows = valueAt(whole, ['rows']);
    for (const row of isList(rows) ? rows : [])
      await configurations.rows(made.id).create({
        rowId: textAt(row, ['id']) ?? '',
        name: textAt(row, ['name']) ?? textAt(row, ['id']) ?? '',
        isDisabled: valueAt(row, ['isDisabled']) === true,
        configuration: valueAt(row, ['configuration']) ?? {},
      });
    await invalidate('sources');
    if (!isRun) return at`/sources/${COMPONENT}/${made.id}`;
    const run = await client().runs.start({ component: COMPONENT, configuration: made.id });
    return at`/runs/${run.id}`;
  });
  const canRun = currentSession().runs;
  const save = (isRun: boolean): void => {
    void action.run(isRun).then((to) => {
      if (to === undefined) return;
      toast(`“${name}” is saved.`);
      onSaved(to);
    });
  };
  return (
    <section class="card new-card stack" aria-labelledby="new-save">
      <h2 id="new-save">Save it</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save(canRun);
        }}
      >
        <div class="new-three">
          <Input label="Name" value={name} onInput={setName} isRequired />
          <Input
            label="Id"
            value={id}
            onInput={setOwnId}
            isMono
            hint="In addresses and commands; it stays."
          />
          <Input
            label="Bucket of the tables"
            value={bucket}
            onInput={setOwnBucket}
            isMono
            hint={`The tables are in.c-${bucket}.…`}
          />
        </div>
        {!canRun && <Banner>This service does not run sources itself: start it with gex run.</Banner>}
        {action.error !== undefined && <ErrorBanner error={action.error} />}
        <div class="row">
          {canRun && (
            <Button
              type="submit"
              kind="primary"
              icon="run"
              isBusy={action.isRunning}
              isDisabled={name.trim() === ''}
            >
              Save and run it now
            </Button>
          )}
          <Button isBusy={action.isRunning} isDisabled={name.trim() === ''} onPress={() => save(false)}>
            Save only
          </Button>
        </div>
      </form>
    </section>
  );
}
