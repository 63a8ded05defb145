import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { client, type Run } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { at, setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { SourceLink } from '../../ui/source-link.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, Count, durationText, RelativeTime, Text } from '../../ui/values.tsx';
import { AcceptDoubt, Acceptance, isInDoubt } from './accept.tsx';
import { Compare } from './compare.tsx';
import { Log } from './log.tsx';
import { Overview } from './overview.tsx';
import { useMayRun } from '../../data/run-rights.ts';
import { nameOf, runsOf, useSources } from '../../data/sources.ts';
import { StartRun } from './start-run.tsx';
import { TimeLine } from './time-line.tsx';
import { useRun } from './use-run.ts';
import { useTick } from './use-tick.ts';
import { isOver, loadedRowsOf, rowsOf, tookMs, verdictText, Words } from './words.tsx';

const TABS = [
  { name: 'overview', text: 'Overview' },
  { name: 'requests', text: 'Time line' },
  { name: 'log', text: 'Log' },
  { name: 'compare', text: 'Compare' },
] as const;

export function RunPage({ id }: { readonly id: string }) {
  const { query } = usePlace();
  const run = useRun(id);
  const sources = useSources();
  const [isAgain, setAgain] = useState(false);
  const tab = TABS.find(({ name }) => name === query.get('tab'))?.name ?? 'overview';
  const { data } = run;
  const right = useMayRun(data?.component, data?.configuration);
  return (
    <Page
      title={`Run ${id}`}
      crumbs={[
        { to: '/runs', text: 'Runs' },
        ...(data === undefined
          ? []
          : [
              {
                to: runsOf(data.component, data.configuration),
                text: nameOf(sources.data, data.component, data.configuration),
              },
            ]),
      ]}
      actions={
        data !== undefined &&
        mayUse(data.component) && (
          <>
            {!isOver(data) && <Cancel run={data} />}
            {isInDoubt(data) && right?.canRun === true && <AcceptDoubt run={data} />}
            {isOver(data) && right?.canRun === true && (
              <Button kind="primary" icon="run" onPress={() => setAgain(true)}>
                Run again
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded query={run}>
        {(found) => (
          <>
            <Head run={found} name={nameOf(sources.data, found.component, found.configuration)} />
            <Tabs
              label="What the run did"
              tabs={TABS}
              current={tab}
              onChange={(name) =>
                setQuery({
                  tab: name === 'overview' ? undefined : name,
                  job: undefined,
                  request: undefined,
                  sent: undefined,
                })
              }
            >
              {tab === 'overview' && <Overview run={found} />}
              {tab === 'requests' && <TimeLine run={found} />}
              {tab === 'log' && <Log run={found} />}
              {tab === 'compare' && <Compare run={found} />}
            </Tabs>
          </>
        )}
      </Loaded>
      {isAgain && data !== undefined && (
        <StartRun
          component={data.component}
          configuration={data.configuration}
          asked={data.asked}
          onClose={() => setAgain(false)}
        />
      )}
    </Page>
  );
}

function Cancel({ run }: { readonly run: Run }) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction(async () => {
    await client().runs.cancel(run.id);
    setAsking(false);
    toast('The run was asked to end');
    await invalidate('runs');
  });
  return (
    <>
      <Button kind="danger" icon="close" isDisabled={run.cancelTime !== null} onPress={() => setAsking(true)}>
        {run.cancelTime === null ? 'Cancel the run' : 'Ending …'}
      </Button>
      {isAsking && (
        <Confirm
          title="Cancel this run?"
          action="Cancel the run"
          onConfirm={() => void action.run(undefined)}
          onClose={() => setAsking(false)}
          isBusy={action.isRunning}
          error={action.error}
        >
          It ends where it is, and nothing more is loaded into tables. Another run goes on from what it has
          got.
        </Confirm>
      )}
    </>
  );
}

function Head({ run, name }: { readonly run: Run; readonly name: string }) {
  useTick(!isOver(run));
  const { verdict, error, component, configuration, attempt, asked, schedule, creatorToken } = run;
  const took = tookMs(run);
  const rows = isOver(run) ? loadedRowsOf(run) : rowsOf(run);
  return (
    <div class="stack">
      <div class="runs-facts card">
        <Fact name="Status">
          <StatusBadge run={run} />
        </Fact>
        <Fact name="Verdict">
          <VerdictBadge verdict={verdict} isAccepted={run.accepted !== undefined} />
        </Fact>
        <Fact name="Source">
          <SourceLink {...{ component, configuration, name }} />
        </Fact>
        <Fact name={isOver(run) ? 'Rows in tables' : 'Rows read'}>
          {rows === undefined ? '–' : <Count value={rows} />}
        </Fact>
        <Fact name="Took">{took === undefined ? '–' : durationText(took)}</Fact>
        <Fact name="Asked for">
          <RelativeTime value={run.createdTime} />
        </Fact>
        <Fact name="By">{schedule === null ? <By token={creatorToken} /> : `schedule ${schedule}`}</Fact>
        {attempt > 1 && <Fact name="Attempt">{attempt}</Fact>}
        {asked.from !== undefined && (
          <Fact name="Period">
            <Text>{`${asked.from} – ${asked.to ?? 'now'}`}</Text>
          </Fact>
        )}
        {asked.rows !== undefined && (
          <Fact name="Only">
            <Text>{asked.rows.join(', ')}</Text>
          </Fact>
        )}
      </div>
      {run.status === 'waiting' && (
        <Banner>
          {attempt === 0
            ? 'It waits for a free runner, or for the run of this source before it.'
            : 'It was interrupted, and goes on as soon as what it needs is there. The log says what that is.'}
        </Banner>
      )}
      <Acceptance run={run} />
      {error !== null && (
        <Banner
          kind={run.accepted === undefined ? 'bad' : 'info'}
          action={
            error.code === 'auth.loginEnded' && (
              <ButtonLink to={at`/sources/${component}/${configuration}`}>Log in again</ButtonLink>
            )
          }
        >
          <p>
            <Words text={error.message} />
          </p>
          {error.hint !== undefined && (
            <p class="small">
              <Words text={error.hint} />
            </p>
          )}
          <p class="small muted">
            {error.audience === 'user'
              ? 'It is for whoever looks after this source.'
              : 'It is for whoever looks after this service.'}{' '}
            <code>
              <Text>{error.code}</Text>
            </code>
          </p>
        </Banner>
      )}
      {verdict !== null && error === null && <p class="muted">{verdictText(verdict)}</p>}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <span class="muted small">{name}</span>
      <span>{children}</span>
    </div>
  );
}
