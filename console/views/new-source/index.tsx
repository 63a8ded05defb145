import { useState } from 'preact/hooks';
import { client } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { at, navigate, useUnsaved } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { ErrorBanner, Loaded } from '../../ui/states.tsx';

export default function NewSource() {
  const components = useQuery({ key: ['components'], load: async () => await client().components() });
  const [name, setName] = useState('');
  const [component, setComponent] = useState('');
  const action = useAction(async (chosen: string) => {
    const made = await client().configurations(chosen).create({ name });
    await invalidate('sources');
    return made;
  });
  useUnsaved(name !== '' && !action.isRunning);
  return (
    <Page title="New source" crumbs={[{ to: '/sources', text: 'Sources' }]}>
      <Loaded query={components}>
        {(all) => {
          const chosen = component || (all[0]?.id ?? '');
          return (
            <form
              class="stack card"
              style={{ padding: 'var(--s5)', maxWidth: '36rem' }}
              onSubmit={(event) => {
                event.preventDefault();
                void action.run(chosen).then((made) => {
                  if (made === undefined) return;
                  setName('');
                  setTimeout(() => navigate(at`/sources/${chosen}/${made.id}`));
                });
              }}
            >
              <Select
                label="Component"
                value={chosen}
                options={all.map(({ id, name: text }) => ({ value: id, text }))}
                onChange={setComponent}
              />
              <Input label="Name" value={name} onInput={setName} hasFocus />
              {action.error !== undefined && <ErrorBanner error={action.error} />}
              <div>
                <Button
                  type="submit"
                  kind="primary"
                  isDisabled={name.trim() === ''}
                  isBusy={action.isRunning}
                >
                  Create the source
                </Button>
              </div>
            </form>
          );
        }}
      </Loaded>
    </Page>
  );
}
