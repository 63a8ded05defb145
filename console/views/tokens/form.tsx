import { useState } from 'preact/hooks';
import { shownText } from '../../../src/lib/shown-text.ts';
import { client, type Token } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { useUnsaved } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, SearchField, Select } from '../../ui/field.tsx';
import { ErrorBanner, Loaded } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';
import { bucketsOf } from './rights.ts';
import './tokens.css';

type Given = 'read' | 'write';

const DAY = 86_400;
const ENDS = [
  { value: '', text: 'Never' },
  { value: String(DAY / 24), text: 'In an hour' },
  { value: String(DAY), text: 'In a day' },
  { value: String(7 * DAY), text: 'In a week' },
  { value: String(30 * DAY), text: 'In 30 days' },
  { value: String(365 * DAY), text: 'In a year' },
];
/** From so many on, buckets are searched. */
const MANY = 8;

/** Makes a token, or changes what one may do. */
export function TokenForm({
  token,
  onClose,
  onDone,
}: {
  /** The one to change; a new one without. */
  readonly token?: Token;
  readonly onClose: () => void;
  readonly onDone: (token: Token) => void;
}) {
  const [description, setDescription] = useState(token?.description ?? '');
  const [isForAll, setForAll] = useState(token?.canManageBuckets === true);
  const [grants, setGrants] = useState<Readonly<Record<string, Given>>>(givenOf(token));
  const [components, setComponents] = useState<readonly string[]>(token?.componentAccess ?? []);
  const [isReadOnly, setReadOnly] = useState(token?.isReadOnly === true);
  const [readsFiles, setReadsFiles] = useState(token?.canReadAllFileUploads === true);
  const [expiresIn, setExpiresIn] = useState('');
  const [search, setSearch] = useState('');
  const [isChanged, setChanged] = useState(false);
  const known = useQuery({
    key: ['tokens', 'choices'],
    load: async () => {
      const [buckets, all, used] = await Promise.all([
        client().buckets.list(),
        client().components(),
        client().configurationNames(),
      ]);
      // The catalogue has others that programs expect, and that nothing here is made with.
      const wanted = new Set([...used.map(({ component }) => component), ...(token?.componentAccess ?? [])]);
      const components = all.filter(({ id, type }) => type === 'extractor' || wanted.has(id));
      return { buckets: buckets.map(({ id }) => id), components };
    },
  });
  const save = useAction(async () => {
    const body = {
      description: description.trim(),
      ...(isForAll ? {} : { bucketPermissions: { ...grants }, componentAccess: [...components] }),
      canReadAllFileUploads: readsFiles,
      isReadOnly,
    };
    const saved =
      token === undefined
        ? await client().tokens.create({
            ...body,
            canManageBuckets: isForAll,
            ...(expiresIn === '' ? {} : { expiresIn: Number(expiresIn) }),
          })
        : await client().tokens.update(token.id, body);
    setChanged(false);
    void invalidate('tokens');
    onDone(saved);
  });
  useUnsaved(isChanged);
  const isNew = token === undefined;
  return (
    <Dialog title={isNew ? 'New token' : 'Change the rights'} onClose={onClose} form="side">
      <form
        class="stack"
        onInput={() => setChanged(true)}
        onSubmit={(event) => {
          event.preventDefault();
          if (!save.isRunning) void save.run(undefined);
        }}
      >
        <Input
          label="Description"
          hint="Who uses it, and for what: it stands beside everything that is done with it."
          value={description}
          onInput={setDescription}
          hasFocus
        />
        <Checkbox
          label="Only reads: sees what the rights below give, and changes nothing"
          isChecked={isReadOnly}
          onChange={setReadOnly}
        />
        {isNew && (
          <Checkbox
            label={isReadOnly ? 'Sees all buckets and sources' : 'Manages all buckets and sources'}
            isChecked={isForAll}
            onChange={setForAll}
          />
        )}
        {!isForAll && (
          <Loaded query={known}>
            {(choices) => (
              <>
                <fieldset class="choices">
                  <legend>Buckets</legend>
                  {choices.buckets.length === 0 && <p class="muted">There are no buckets yet.</p>}
                  {choices.buckets.length > MANY && (
                    <SearchField label="Search buckets" value={search} onInput={setSearch} />
                  )}
                  {choices.buckets.length > 0 && (
                    <ul class="grants">
                      {choices.buckets
                        .filter((id) => id.toLowerCase().includes(search.toLowerCase()))
                        .map((id) => (
                          <li key={id}>
                            <span>
                              <Text>{id}</Text>
                            </span>
                            <Select
                              label={`Rights to ${shownText(id)}`}
                              isLabelHidden
                              value={grants[id] ?? ''}
                              options={[
                                { value: '', text: 'nothing' },
                                { value: 'read', text: 'reads' },
                                { value: 'write', text: 'reads and writes' },
                              ]}
                              onChange={(value) => {
                                const { [id]: _, ...others } = grants;
                                setGrants(value === '' ? others : { ...others, [id]: value });
                              }}
                            />
                          </li>
                        ))}
                    </ul>
                  )}
                </fieldset>
                <fieldset class="choices">
                  <legend>Sources of these components</legend>
                  {choices.components.map(({ id, name }) => (
                    <Checkbox
                      key={id}
                      label={
                        <>
                          <Text>{name}</Text> <span class="muted mono">{shownText(id)}</span>
                        </>
                      }
                      isChecked={components.includes(id)}
                      onChange={(isChecked) =>
                        setComponents(
                          isChecked ? [...components, id] : components.filter((each) => each !== id),
                        )
                      }
                    />
                  ))}
                </fieldset>
              </>
            )}
          </Loaded>
        )}
        <Checkbox
          label="Reads the files of all tokens, not only its own"
          isChecked={readsFiles}
          onChange={setReadsFiles}
        />
        {isNew && <Select label="Ends" value={expiresIn} options={ENDS} onChange={setExpiresIn} />}
        {save.error !== undefined && <ErrorBanner error={save.error} />}
        <div class="row">
          <Button type="submit" kind="primary" isBusy={save.isRunning}>
            {isNew ? 'Make the token' : 'Save'}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

function givenOf(token: Token | undefined): Record<string, Given> {
  if (token === undefined) return {};
  return Object.fromEntries(
    Object.entries(bucketsOf(token)).map(([id, grant]) => [id, grant === 'read' ? 'read' : 'write']),
  );
}
