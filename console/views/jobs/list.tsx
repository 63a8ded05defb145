import { client, type Job } from '../../data/client.ts';
import {
  failureOfJob,
  OPERATION_NAMES,
  operationText,
  operationTitle,
  STATUS_TEXTS,
} from '../../data/job-words.ts';
import { useQuery } from '../../data/query.ts';
import { currentSession } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { SearchField, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useOffset } from '../../ui/pager.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { By, RelativeTime, Text } from '../../ui/values.tsx';
import { isOver, JobStatus, tookText } from './status.tsx';

const PART = 100;
const LIVE_MS = 1500;
const CALM_MS = 6000;

const COLUMNS: readonly Column<Job>[] = [
  {
    id: 'job',
    title: 'Job',
    width: 250,
    show: (job) => (
      <Link to={at`/jobs/${job.id}`}>
        <Text>{operationText(job)}</Text>
      </Link>
    ),
  },
  { id: 'status', title: 'Status', width: 100, show: (job) => <JobStatus status={job.status} /> },
  {
    id: 'created',
    title: 'Asked for',
    width: 130,
    show: ({ createdTime }) => <RelativeTime value={createdTime} />,
  },
  { id: 'took', title: 'Took', width: 90, align: 'right', show: tookText },
  { id: 'error', title: 'Error', width: 160, text: (job) => failureOfJob(job)?.message ?? '' },
  { id: 'who', title: 'By', width: 130, show: ({ creatorToken }) => <By token={creatorToken} /> },
];

export function JobList() {
  const { query } = usePlace();
  const status = query.get('status') ?? '';
  const operation = query.get('operation') ?? '';
  const tableId = query.get('table') ?? '';
  const offset = useOffset();
  const isFiltered = status !== '' || operation !== '' || tableId !== '';
  const jobs = useQuery({
    key: ['jobs', { status, operation, tableId, offset }],
    load: async () =>
      await client().jobs.list({
        limit: PART,
        offset,
        storage_job_status: status === '' ? undefined : [status],
        operationName: operation === '' ? undefined : [operation],
        tableId: tableId === '' ? undefined : tableId,
      }),
    everyMs: (all) => (all?.every(isOver) === false ? LIVE_MS : CALM_MS),
    topic: 'jobs',
    keepsPrevious: true,
  });
  return (
    <Page title="Jobs" about="What the storage does in the background: imports, exports, changes of tables.">
      <div class="filters">
        <SearchField
          label="Table, such as in.c-main.users"
          value={tableId}
          onInput={(table) => filter({ table })}
        />
        <Select
          label="Status"
          isLabelHidden
          value={status}
          options={[
            { value: '', text: 'Every status' },
            ...Object.entries(STATUS_TEXTS).map(([value, text]) => ({ value, text })),
          ]}
          onChange={(value) => filter({ status: value })}
        />
        <Select
          label="Operation"
          isLabelHidden
          value={operation}
          options={[
            { value: '', text: 'Every operation' },
            ...OPERATION_NAMES.map((value) => ({ value, text: operationTitle(value) })),
          ]}
          onChange={(value) => filter({ operation: value })}
        />
      </div>
      <Loaded query={jobs}>
        {(all) => (
          <>
            {all.length === 0 ? (
              <div class="card">
                {isFiltered || offset > 0 ? (
                  <EmptyState
                    icon="job"
                    title="No job is like that"
                    action={
                      <Button
                        onPress={() => setQuery({ status: '', operation: '', table: '', offset: undefined })}
                      >
                        Show all jobs
                      </Button>
                    }
                  />
                ) : (
                  <EmptyState icon="job" title="There are no jobs yet">
                    Imports, exports and changes of tables appear here, with what came of them.
                    {currentSession().token.isMaster ? '' : ' Your token sees its own jobs only.'}
                  </EmptyState>
                )}
              </div>
            ) : (
              <DataTable
                label="Jobs"
                columns={COLUMNS}
                rows={all}
                rowKey={({ id }) => String(id)}
                onOpen={({ id }) => navigate(at`/jobs/${id}`)}
              />
            )}
            <Pager noun="jobs" size={PART} shown={all.length} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Changes the filter, and goes back to the newest. */
function filter(values: Readonly<Record<string, string>>): void {
  setQuery({ ...values, offset: undefined });
}
