import { useState } from 'preact/hooks';
import type { MetadataItem } from '../../data/client.ts';
import { useAction, useQuery } from '../../data/query.ts';
import type { Metadata } from '../../../src/storage/client/metadata.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Input, TextArea } from '../../ui/field.tsx';
import { EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';

/** Provider of the metadata written here. */
export const PROVIDER = 'user';

/** Lists the metadata of a bucket or a table, by provider. */
export function MetadataList({
  of,
  canChange,
  at,
}: {
  /** Prefix of the query's key: `['tables', id]`. */
  readonly of: readonly string[];
  readonly canChange: boolean;
  readonly at: () => Metadata;
}) {
  const query = useQuery({ key: [...of, 'metadata'], load: async () => await at().list() });
  const [edited, setEdited] = useState<Partial<MetadataItem> | undefined>();
  const [deleted, setDeleted] = useState<MetadataItem | undefined>();
  const remove = useAction(async (id: string) => {
    await at().delete(id);
    await query.refetch();
    return true;
  });
  return (
    <div class="stack">
      <div class="spread">
        <p class="muted">Notes for people and programs: a name, a value, and who says so.</p>
        {canChange && (
          <Button icon="plus" onPress={() => setEdited({})}>
            Add a note
          </Button>
        )}
      </div>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <div class="card">
              <EmptyState title="Nothing is noted yet">
                Runs note where a table comes from{canChange ? ', and so may you' : ''}.
              </EmptyState>
            </div>
          ) : (
            <ul class="tables-metadata card">
              {items
                .toSorted((a, b) => `${a.provider} ${a.key}`.localeCompare(`${b.provider} ${b.key}`))
                .map((item) => (
                  <li key={item.id}>
                    <div class="tables-metadata-text">
                      <strong>
                        <Text>{item.key}</Text>
                      </strong>
                      <p>
                        <Text>{item.value.length > 2000 ? `${item.value.slice(0, 2000)}…` : item.value}</Text>
                      </p>
                      <span class="muted small">
                        <Text>{item.provider ?? ''}</Text> · <RelativeTime value={item.timestamp} />
                      </span>
                    </div>
                    {canChange && (
                      <>
                        <IconButton
                          icon="edit"
                          label={`Change ${item.key}`}
                          onPress={() => setEdited(item)}
                        />
                        <IconButton
                          icon="trash"
                          label={`Delete ${item.key}`}
                          onPress={() => setDeleted(item)}
                        />
                      </>
                    )}
                  </li>
                ))}
            </ul>
          )
        }
      </Loaded>
      {edited !== undefined && (
        <EditMetadata
          item={edited}
          at={at}
          onClose={(isSaved) => {
            setEdited(undefined);
            if (isSaved) void query.refetch();
          }}
        />
      )}
      {deleted !== undefined && (
        <Confirm
          title="Delete this note?"
          action="Delete the note"
          isBusy={remove.isRunning}
          error={remove.error}
          onClose={() => setDeleted(undefined)}
          onConfirm={() =>
            void remove.run(deleted.id).then((isDone) => isDone === true && setDeleted(undefined))
          }
        >
          <p>
            <Text>{deleted.key}</Text> goes, with its value.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function EditMetadata({
  item,
  at,
  onClose,
}: {
  readonly item: Partial<MetadataItem>;
  readonly at: () => Metadata;
  readonly onClose: (isSaved: boolean) => void;
}) {
  const [name, setName] = useState(item.key ?? '');
  const [value, setValue] = useState(item.value ?? '');
  const isNew = item.id === undefined;
  const save = useAction(async () => {
    await at().set([{ key: name, value }], item.provider ?? PROVIDER);
    return true;
  });
  return (
    <Dialog title={isNew ? 'Add a note' : 'Change a note'} onClose={() => onClose(false)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save.run(undefined).then((isDone) => {
            if (isDone !== true) return;
            toast('The note is saved.');
            onClose(true);
          });
        }}
      >
        <Input
          label="Name"
          value={name}
          onInput={setName}
          isDisabled={!isNew}
          isRequired
          isMono
          hasFocus={isNew}
        />
        <TextArea label="Value" value={value} onInput={setValue} />
        {save.error !== undefined && <ErrorBanner error={save.error} />}
        <div class="row">
          <Button kind="primary" type="submit" isBusy={save.isRunning}>
            Save
          </Button>
          <Button onPress={() => onClose(false)}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
