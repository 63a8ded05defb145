import type { ComponentChildren } from 'preact';
import type { JobReport } from '../../../src/engine/completeness/report.ts';
import { proofText } from '../../../src/engine/completeness/words.ts';
import type { Run, RunProgress } from '../../data/client.ts';
import { Link } from '../../route/link.tsx';
import { at, setQuery } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { VerdictBadge } from '../../ui/run-badges.tsx';
import { Badge, EmptyState } from '../../ui/states.tsx';
import { Bytes, bytesText, Count, countText, durationText, plural, Text, timeOf } from '../../ui/values.tsx';
import { SpentTime } from './spent.tsx';
import { useTick } from './use-tick.ts';
import { isOver, Words } from './words.tsx';

type RowOfRun = NonNullable<Run['rows']>[number];

/** Many rows with many jobs would be more than anyone reads at once. */
const SHOWN = 50;

export function Overview({ run }: { readonly run: Run }) {
  const { rows = [], progress } = run;
  if (!isOver(run) && progress !== undefined) return <Live progress={progress} />;
  if (rows.length === 0)
    return (
      <div class="stack">
        <SpentTime run={run} />
        <div class="card">
          <EmptyState icon="run" title={isOver(run) ? 'It gave nothing' : 'Nothing is known of it yet'}>
            {isOver(run)
              ? 'None of its jobs was finished. The log says how far it got, the time line what was asked.'
              : 'As soon as the first request goes out, its pages and rows are counted here.'}
          </EmptyState>
        </div>
      </div>
    );
  return (
    <div class="stack">
      <SpentTime run={run} />
      {rows.slice(0, SHOWN).map((row) => (
        <RowCard key={row.id ?? ''} row={row} accepted={run.accepted} />
      ))}
      {rows.length > SHOWN && (
        <p class="muted">{plural(rows.length - SHOWN, 'row')} more of the configuration are in the log.</p>
      )}
    </div>
  );
}

function Live({ progress }: { readonly progress: RunProgress }) {
  useTick(true);
  const { last, waiting, transfer, jobs } = progress;
  const leftMs = waiting === undefined ? 0 : Math.max(0, timeOf(waiting.until) - Date.now());
  return (
    <div class="stack">
      <div class="runs-numbers" role="group" aria-label="So far">
        <Figure name="Pages">{countText(progress.pages)}</Figure>
        <Figure name="Rows read">{countText(progress.rows)}</Figure>
        <Figure name="Rows a second">{countText(progress.rowsPerSecond)}</Figure>
        <Figure name="Received">{bytesText(progress.bytes)}</Figure>
        <Figure name="Requests">{countText(progress.requests)}</Figure>
        <Figure name="Retries" isBad={progress.retries > 0}>
          {countText(progress.retries)}
        </Figure>
        <Figure name="Waited">{durationText(progress.waitedMs)}</Figure>
      </div>
      <div class="card runs-now" aria-label="Now" role="group">
        {waiting !== undefined && (
          <p>
            <Badge tone="warn">waiting</Badge>{' '}
            {waiting.for === 'pace'
              ? 'for its turn, by a limit of the configuration'
              : `to send a request again, for ${durationText(leftMs)} more`}
          </p>
        )}
        {transfer !== undefined && (
          <p>
            {transfer.direction === 'upload' ? 'Loading ' : 'Fetching '}
            <Text>{transfer.name}</Text>: {bytesText(transfer.bytes)}
            {transfer.totalBytes === undefined ? '' : ` of ${bytesText(transfer.totalBytes)}`}
          </p>
        )}
        {last !== undefined && (
          <p class="runs-last">
            <span class="muted">Last request</span>{' '}
            <code>
              <Text>{last.request}</Text>
            </code>{' '}
            <LastAnswer last={last} />
          </p>
        )}
        {last === undefined && transfer === undefined && <p class="muted">It is being prepared.</p>}
      </div>
      {jobs.length > 0 && (
        <div class="runs-scroll card">
          <table class="runs-table">
            <thead>
              <tr>
                <th>Job</th>
                <th class="runs-right">Pages</th>
                <th class="runs-right">Rows</th>
                <th class="runs-right">Received</th>
                <th>How it stands</th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((job, i) => (
                <tr key={i}>
                  <td>
                    {job.row !== undefined && (
                      <span class="muted">
                        <Text>{job.row}</Text> /{' '}
                      </span>
                    )}
                    {job.level > 0 && <span class="muted">child </span>}
                    <Text>{job.job}</Text>
                  </td>
                  <td class="runs-right">
                    <Count value={job.pages} />
                  </td>
                  <td class="runs-right">
                    <Count value={job.rows} />
                  </td>
                  <td class="runs-right">
                    <Bytes value={job.bytes} />
                  </td>
                  <td>
                    {job.end === undefined ? <Badge tone="active">at work</Badge> : <Words text={job.end} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function LastAnswer({ last }: { readonly last: NonNullable<RunProgress['last']> }) {
  if (last.failure !== undefined) return <Badge tone="bad">{last.failure}</Badge>;
  if (last.status === undefined) return <span class="muted">is under way</span>;
  return (
    <>
      <Badge tone={last.status < 400 ? 'good' : 'bad'} isPlain>
        {last.status}
      </Badge>{' '}
      {last.ms !== undefined && <span class="muted">in {durationText(last.ms)}</span>}
    </>
  );
}

function Figure({
  name,
  isBad = false,
  children,
}: {
  readonly name: string;
  readonly isBad?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="card">
      <strong class={isBad ? 'number runs-warn' : 'number'}>{children}</strong>
      <span class="muted small">{name}</span>
    </div>
  );
}

function RowCard({ row, accepted }: { readonly row: RowOfRun; readonly accepted: Run['accepted'] }) {
  const { id, verdict, isHeld, tables, rows } = row;
  // Written by the command, of this version or an older one.
  const jobs = row.jobs as readonly JobReport[];
  return (
    <section class="card runs-row" aria-label={id === undefined ? 'What came' : `Row ${id}`}>
      <div class="spread">
        <h2>{id === undefined ? 'What came' : <Text>{id}</Text>}</h2>
        <span class="row">
          <span class="muted">
            <Count value={rows} /> {rows === 1 ? 'row' : 'rows'}
          </span>
          <VerdictBadge verdict={verdict} isAccepted={isHeld === true && accepted !== undefined} />
        </span>
      </div>
      {isHeld === true &&
        (accepted === undefined ? (
          <p class="runs-bad">Nothing of it was loaded into tables, as it may not be everything.</p>
        ) : (
          <p class="muted">This run held it back until its doubt was accepted.</p>
        ))}
      {jobs.slice(0, SHOWN).map((job, i) => (
        <Job key={i} job={job} />
      ))}
      {tables.length > 0 && (
        <div class="runs-scroll">
          <table class="runs-table runs-came">
            <thead>
              <tr>
                <th>Table</th>
                <th class="runs-right">Rows</th>
              </tr>
            </thead>
            <tbody>
              {tables.slice(0, SHOWN * 4).map(({ name, destination, rows: count }) => (
                <tr key={name}>
                  <td>
                    {destination === undefined || isHeld === true ? (
                      <Text>{name}</Text>
                    ) : (
                      <Link to={at`/tables/${destination}`}>
                        <Text>{destination}</Text>
                      </Link>
                    )}
                  </td>
                  <td class="runs-right">
                    <Count value={count} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Job({ job }: { readonly job: JobReport }) {
  const doubts = job.doubtful.flatMap((run) => run.doubts.map(({ text }) => ({ text, run })));
  return (
    <div class="runs-job">
      <div class="spread">
        <h3>
          <Text>{job.job}</Text>
        </h3>
        <span class="row">
          <span class="muted small">
            {plural(job.pages, 'page')}, {plural(job.rows, 'row')}
            {job.runs > 1 ? `, in ${plural(job.runs, 'run')}` : ''}
          </span>
          <VerdictBadge verdict={job.verdict} />
          <Button kind="plain" onPress={() => setQuery({ tab: 'requests', job: job.job })}>
            Show its requests
          </Button>
        </span>
      </div>
      <ul class="runs-reasons">
        {job.reasons.slice(0, 5).map(({ text, runs }, i) => (
          <li key={i}>
            {job.runs > 1 ? `${plural(runs, 'run')} ended: ` : 'It ended: '}
            <Words text={text} />
          </li>
        ))}
        {job.proof !== undefined && (
          <li>
            Proof: <Words text={proofText(job.proof)} />
          </li>
        )}
        {doubts.slice(0, 5).map(({ text, run }, i) => (
          <li key={`doubt-${i}`} class="runs-bad">
            <Words text={text} />
            {job.runs > 1 && (
              <span class="muted small">
                {' '}
                <Text>{run.request}</Text>
              </span>
            )}
          </li>
        ))}
        {job.rowsTwice > 0 && <li class="runs-bad">{plural(job.rowsTwice, 'row')} came more than once.</li>}
        {job.leftOut !== undefined && job.leftOut > 0 && (
          <li>{plural(job.leftOut, 'row')} left out, as the configuration wants it.</li>
        )}
        {job.accepted !== undefined && (
          <li>
            Taken all the same: <Text>{job.accepted}</Text>
          </li>
        )}
      </ul>
    </div>
  );
}
