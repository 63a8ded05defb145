import { client, type File } from '../../data/client.ts';
import { contentAddress } from '../../data/file-transfer.ts';
import { useQuery } from '../../data/query.ts';
import { currentSession, mayChangeOf } from '../../data/session.ts';
import { useDebounced } from '../../data/settled.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useOffset } from '../../ui/pager.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { By, Bytes, RelativeTime, Text } from '../../ui/values.tsx';
import { Expires, kindText, Tags } from './facts.tsx';
import { Uploads } from './uploads.tsx';

const PART = 100;
const EVERY_MS = 15_000;

const COLUMNS: readonly Column<File>[] = [
  {
    id: 'name',
    title: 'File',
    width: 260,
    show: ({ id, name }) => (
      <Link to={at`/files/${id}`}>
        <Text>{name}</Text>
      </Link>
    ),
  },
  {
    id: 'content',
    title: 'Content',
    width: 100,
    show: ({ id }) => (
      <a href={contentAddress(id)} download aria-label={`Download file ${id}`}>
        Download
      </a>
    ),
  },
  {
    id: 'size',
    title: 'Size',
    width: 100,
    align: 'right',
    show: ({ sizeBytes }) =>
      sizeBytes === null ? <span class="muted">–</span> : <Bytes value={sizeBytes} />,
  },
  { id: 'tags', title: 'Tags', width: 190, show: ({ tags }) => <Tags tags={tags} /> },
  {
    id: 'created',
    title: 'Created',
    width: 140,
    show: ({ created }) => <RelativeTime value={created} />,
  },
  { id: 'expires', title: 'Removed', width: 110, show: (file) => <Expires file={file} /> },
  {
    id: 'kind',
    title: 'Kind',
    width: 150,
    show: (file) => <span class="muted">{kindText(file) || 'whole'}</span>,
  },
  { id: 'by', title: 'By', width: 120, show: ({ creatorToken }) => <By token={creatorToken} /> },
];

export function FileList() {
  const { query } = usePlace();
  const search = query.get('search') ?? '';
  const asked = useDebounced(search.trim());
  const offset = useOffset();
  const files = useQuery({
    key: ['files', 'list', { asked, offset }],
    load: async () => await client().files.list({ limit: PART, offset, q: asked === '' ? undefined : asked }),
    everyMs: EVERY_MS,
    keepsPrevious: true,
  });
  const { isMaster, canReadAllFiles } = currentSession().token;
  return (
    <Page title="Files" about="What was uploaded, and what exports have made; most are kept for some days.">
      {mayChangeOf() && <Uploads />}
      <div class="filters">
        <SearchField
          label="Search by name or tag"
          value={search}
          onInput={(value) => setQuery({ search: value, offset: undefined })}
        />
        <span class="muted small">
          Also <code>tags:daily AND NOT name:old*</code>
        </span>
      </div>
      <Loaded query={files}>
        {(all) => (
          <>
            {all.length === 0 ? (
              <div class="card">
                {asked !== '' || offset > 0 ? (
                  <EmptyState
                    icon="file"
                    title="No file is like that"
                    action={
                      <Button onPress={() => setQuery({ search: '', offset: undefined })}>
                        Show all files
                      </Button>
                    }
                  >
                    Words are looked for in names; a tag has to be given whole, or with * in it.
                  </EmptyState>
                ) : (
                  <EmptyState icon="file" title="There are no files">
                    Imports and exports leave files here for a while
                    {mayChangeOf() && ', and so does what you drop above'}.
                    {isMaster || canReadAllFiles ? '' : ' Your token sees its own files only.'}
                  </EmptyState>
                )}
              </div>
            ) : (
              <DataTable
                label="Files"
                columns={COLUMNS}
                rows={all}
                rowKey={({ id }) => String(id)}
                onOpen={({ id }) => navigate(at`/files/${id}`)}
              />
            )}
            <Pager noun="files" size={PART} shown={all.length} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
