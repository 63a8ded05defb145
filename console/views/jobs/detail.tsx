import { useState } from 'preact/hooks';
import { client, type Job } from '../../data/client.ts';
import { failureOfJob, operationText } from '../../data/job-words.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { currentSession, mayChangeOf } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { JsonBlock } from '../../ui/json-block.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, Bytes, CopyButton, KeyValue, RelativeTime, Text } from '../../ui/values.tsx';
import { isOver, JobStatus, tookText } from './status.tsx';

export function JobDetail({ id }: { readonly id: string }) {
  const job = useQuery({
    key: ['jobs', id],
    load: async (signal) => await client().jobs.detail(Number(id), { signal }),
    everyMs: (found) => (found === undefined || isOver(found) ? false : 700),
  });
  return (
    <Page
      title={job.data === undefined ? `Job ${id}` : operationText(job.data)}
      crumbs={[{ to: '/jobs', text: 'Jobs' }]}
      actions={job.data && mayChangeOf(job.data.creatorToken.id) && <Actions job={job.data} />}
    >
      <Loaded query={job}>{(found) => <Found job={found} />}</Loaded>
    </Page>
  );
}

function Actions({ job }: { readonly job: Job }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useAction(async () => {
    await client().jobs.cancel(job.id);
    setAsking(false);
    await invalidate('jobs');
  });
  const retry = useAction(async () => {
    await client().jobs.retry(job.id);
    toast('The job was given again.');
    await invalidate('jobs');
  });
  const canRetry = failureOfJob(job)?.canRetry === true;
  return (
    <>
      {canRetry && (
        <Button
          kind="primary"
          icon="refresh"
          isBusy={retry.isRunning}
          onPress={() => void retry.run(undefined)}
        >
          Give it again
        </Button>
      )}
      {!isOver(job) && (
        <Button kind="danger" onPress={() => setAsking(true)}>
          Cancel the job
        </Button>
      )}
      {retry.error !== undefined && <ErrorBanner error={retry.error} />}
      {isAsking && (
        <Confirm
          title="Cancel this job?"
          action="Cancel the job"
          onConfirm={() => void cancel.run(undefined)}
          onClose={() => setAsking(false)}
          isBusy={cancel.isRunning}
          error={cancel.error}
        >
          One that waits ends at once. One at work ends where it can, and changes nothing then; what takes a
          moment only goes on to its end.
        </Confirm>
      )}
    </>
  );
}

function Found({ job }: { readonly job: Job }) {
  const failure = failureOfJob(job);
  const { metrics, results } = job;
  return (
    <>
      {failure !== undefined && (
        <Banner kind="bad">
          <p>
            <Text>{failure.message}</Text>
          </p>
          <p class="small">{failure.advice}</p>
          {failure.code !== '' && (
            <p class="small">
              <span class="muted">Code</span> <code>{failure.code}</code>
            </p>
          )}
          {failure.reference !== '' && (
            <div class="row small">
              <span class="muted">Reference</span>
              <code>{failure.reference}</code>
              <CopyButton text={failure.reference} label="Copy the reference" />
            </div>
          )}
        </Banner>
      )}
      <KeyValue items={factsOf(job)} />
      {metrics.inBytes + metrics.outBytes > 0 && (
        <section class="stack">
          <h2>What it moved</h2>
          <KeyValue
            items={[
              ...sizesOf('Read', metrics.inBytes, metrics.inBytesUncompressed),
              ...sizesOf('Written', metrics.outBytes, metrics.outBytesUncompressed),
            ]}
          />
        </section>
      )}
      {results !== null && results !== undefined && (
        <section class="stack">
          <h2>What came of it</h2>
          <JsonBlock label="Results" value={results} />
        </section>
      )}
      <section class="stack">
        <h2>What was asked for</h2>
        <JsonBlock label="Parameters" value={job.operationParams} />
      </section>
    </>
  );
}

type Fact = readonly [name: string, value: preact.ComponentChildren];

function factsOf(job: Job): Fact[] {
  const { id, tableId, runId, creatorToken } = job;
  const read = fileIn(job.operationParams, 'source', 'fileId');
  const made = fileIn(job.results, 'file', 'id');
  return [
    ['Status', <JobStatus status={job.status} />],
    ['Number', <span class="number">{id}</span>],
    ...(tableId === null
      ? []
      : [
          [
            'Table',
            <Link to={at`/tables/${tableId}`}>
              <Text>{tableId}</Text>
            </Link>,
          ] as const,
        ]),
    ...fileFact('Reads the file', read),
    ...fileFact('Made the file', made),
    ['Asked for', <RelativeTime value={job.createdTime} />],
    ['Began', <RelativeTime value={job.startTime} />],
    ['Took', <span class="number">{tookText(job)}</span>],
    ['By', <By token={creatorToken} />],
    ...(runId === null ? [] : [['Run', <RunLink id={runId} />] as const]),
  ];
}

/** Links to a run. A run of this service has a page; one of another service has only an id. */
function RunLink({ id }: { readonly id: string }) {
  return currentSession().runs && /^\d{1,15}$/.test(id) ? (
    <Link to={at`/runs/${id}`}>{id}</Link>
  ) : (
    <Text>{id}</Text>
  );
}

function fileFact(name: string, id: number | undefined): Fact[] {
  return id === undefined ? [] : [[name, <Link to={at`/files/${id}`}>{`File ${id}`}</Link>]];
}

function sizesOf(name: string, bytes: number, plain: number): Fact[] {
  if (bytes === 0) return [];
  return [
    [name, <Bytes value={bytes} />],
    ...(plain > 0 && plain !== bytes ? [[`${name}, unpacked`, <Bytes value={plain} />] as const] : []),
  ];
}

/** Returns an id in an untyped part of an answer. */
function fileIn(value: unknown, outer: string, inner: string): number | undefined {
  const found = fieldOf(fieldOf(value, outer), inner);
  return typeof found === 'number' ? found : undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && key in value
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
