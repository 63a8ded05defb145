import { useState } from 'preact/hooks';
import { client, type File } from '../../data/client.ts';
import { contentAddress } from '../../data/file-transfer.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { currentSession, mayChangeOf } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button, DownloadLink, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Input } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, Bytes, CopyButton, KeyValue, RelativeTime, Text } from '../../ui/values.tsx';
import { shownText } from '../../../src/lib/shown-text.ts';
import { Expires, kindText } from './facts.tsx';

export function FileDetail({ id }: { readonly id: string }) {
  const file = useQuery({
    key: ['files', 'one', id],
    load: async (signal) => await client().files.detail(Number(id), { signal }),
  });
  return (
    <Page
      title={file.data?.name ?? `File ${id}`}
      crumbs={[{ to: '/files', text: 'Files' }]}
      actions={file.data && <Actions file={file.data} />}
    >
      <Loaded query={file}>
        {(found) => (
          <>
            <KeyValue items={factsOf(found)} />
            <FileTags file={found} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ file }: { readonly file: File }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useAction(async () => {
    await client().files.delete(file.id);
    toast(`${shownText(file.name)} is deleted.`);
    navigate('/files');
    // The file itself is not asked for again: it is gone.
    await invalidate('files', 'list');
  });
  return (
    <>
      <DownloadLink href={contentAddress(file.id)} kind="primary">
        {file.isSliced ? 'Download, slices joined' : 'Download'}
      </DownloadLink>
      {mayChangeOf(file.creatorToken.id) && (
        <Button kind="danger" icon="trash" onPress={() => setAsking(true)}>
          Delete
        </Button>
      )}
      {isAsking && (
        <Confirm
          title="Delete this file?"
          action="Delete the file"
          onConfirm={() => void remove.run(undefined)}
          onClose={() => setAsking(false)}
          isBusy={remove.isRunning}
          error={remove.error}
        >
          <Text>{file.name}</Text> and its content are gone then. Tables that were made of it stay as they
          are.
        </Confirm>
      )}
    </>
  );
}

function FileTags({ file }: { readonly file: File }) {
  const [tag, setTag] = useState('');
  const change = useAction(async (work: () => Promise<void>) => {
    await work();
    await invalidate('files');
  });
  const canChange = mayChangeOf(file.creatorToken.id);
  return (
    <section class="stack">
      <h2>Tags</h2>
      {file.tags.length === 0 ? (
        <p class="muted">It has no tags. Input mappings and searches find files by them.</p>
      ) : (
        <ul class="tags-wrap">
          {file.tags.map((each) => (
            <li key={each}>
              <Badge isPlain>
                <Text>{each}</Text>
              </Badge>
              {canChange && (
                <IconButton
                  icon="close"
                  label={`Take away the tag ${shownText(each)}`}
                  onPress={() => void change.run(async () => await client().files.deleteTag(file.id, each))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {canChange && (
        <form
          class="tags-form"
          onSubmit={(event) => {
            event.preventDefault();
            const given = tag.trim();
            if (given === '' || change.isRunning) return;
            void change.run(async () => {
              await client().files.addTag(file.id, given);
              setTag('');
            });
          }}
        >
          <Input label="New tag" value={tag} onInput={setTag} />
          <Button type="submit" isDisabled={tag.trim() === ''} isBusy={change.isRunning}>
            Add the tag
          </Button>
        </form>
      )}
      {change.error !== undefined && <ErrorBanner error={change.error} />}
    </section>
  );
}

type Fact = readonly [name: string, value: preact.ComponentChildren];

function factsOf(file: File): Fact[] {
  const { id, sizeBytes, created, creatorToken, runId } = file;
  return [
    [
      'Number',
      <span class="row">
        <span class="number">{id}</span>
        <CopyButton text={String(id)} label="Copy the number" />
      </span>,
    ],
    ['Size', sizeBytes === null ? <span class="muted">not known</span> : <Bytes value={sizeBytes} />],
    ['Kind', kindText(file) || 'a whole file'],
    ['Created', <RelativeTime value={created} />],
    ['Removed', <Expires file={file} />],
    ['By', <By token={creatorToken} />],
    ...(runId === null || runId === ''
      ? []
      : [
          [
            'Run',
            currentSession().runs && /^\d{1,15}$/.test(runId) ? (
              <Link to={at`/runs/${runId}`}>{runId}</Link>
            ) : (
              <Text>{runId}</Text>
            ),
          ] as const,
        ]),
  ];
}
