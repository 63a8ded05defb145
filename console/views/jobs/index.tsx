import type { ViewProps } from '../../app/views.ts';
import { client, type Job } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, EmptyState, Loaded, type Tone } from '../../ui/states.tsx';
import { KeyValue, RelativeTime, Text } from '../../ui/values.tsx';

const TONES: Readonly<Record<string, Tone>> = { success: 'good', error: 'bad', processing: 'active' };

const statusOf = ({ status }: Job) => <Badge tone={TONES[status] ?? 'neutral'}>{status}</Badge>;

const errorOf = ({ error }: Job): string => (typeof error === 'string' ? error : (error?.message ?? ''));

const COLUMNS: readonly Column<Job>[] = [
  { id: 'job', title: 'Job', width: 100, show: ({ id }) => <Link to={at`/jobs/${id}`}>{id}</Link> },
  { id: 'status', title: 'Status', width: 130, show: statusOf },
  { id: 'operation', title: 'Operation', width: 180, show: ({ operationName }) => operationName },
  { id: 'table', title: 'Table', width: 240, show: ({ tableId }) => <Text>{tableId ?? '–'}</Text> },
  {
    id: 'created',
    title: 'Asked for',
    width: 140,
    show: ({ createdTime }) => <RelativeTime value={createdTime} />,
  },
  { id: 'error', title: 'Error', width: 300, text: errorOf },
];

export default function Jobs({ parts: [id] }: ViewProps) {
  return id === undefined ? <JobList /> : <JobDetail id={id} />;
}

function JobList() {
  const jobs = useQuery({
    key: ['jobs'],
    load: async () => await client().jobs.list({ limit: 200 }),
    everyMs: 5000,
  });
  return (
    <Page title="Jobs" about="What the storage does in the background: imports, exports, changes of tables.">
      <Loaded query={jobs}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              <EmptyState icon="job" title="There are no jobs yet">
                Imports and exports appear here.
              </EmptyState>
            </div>
          ) : (
            <DataTable
              label="Jobs"
              columns={COLUMNS}
              rows={all}
              rowKey={({ id }) => String(id)}
              onOpen={({ id }) => navigate(at`/jobs/${id}`)}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

function JobDetail({ id }: { readonly id: string }) {
  const job = useQuery({
    key: ['jobs', id],
    load: async (signal) => await client().jobs.detail(Number(id), { signal }),
    everyMs: (found) => (found?.endTime === null ? 1000 : false),
  });
  return (
    <Page title={`Job ${id}`} crumbs={[{ to: '/jobs', text: 'Jobs' }]}>
      <Loaded query={job}>
        {(found) => (
          <KeyValue
            items={[
              ['Status', statusOf(found)],
              ['Operation', found.operationName],
              ['Table', <Text>{found.tableId ?? '–'}</Text>],
              ['Asked for', <RelativeTime value={found.createdTime} />],
              ['Ended', <RelativeTime value={found.endTime} />],
              ['Error', <Text>{errorOf(found) || '–'}</Text>],
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}
