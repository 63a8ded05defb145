import { useMemo, useState } from 'preact/hooks';
import type { ReportedJob, Tried } from '../../data/client.ts';
import { Banner } from '../states.tsx';
import { countText, Text } from '../values.tsx';
import { landingOf, lineOf, type ShownRequest } from './landing.ts';
import { Ticked } from './ticked.tsx';
import { TrialRequests } from './trial-requests.tsx';
import { TrialRows } from './trial-rows.tsx';
import { TrialTables } from './trial-tables.tsx';
import { Verdict } from './verdict.tsx';

/** Shows the result of a trial, side by side if there is room: requests, the rows of one of them, the tables. */
export function TrialView({ tried }: { readonly tried: Tried }) {
  const [chosen, setChosen] = useState<{ request?: string; row?: number | undefined }>({});
  const requests = useMemo(() => requestsOf(tried), [tried]);
  const request = requests.find(({ key }) => key === chosen.request) ?? requests[0];
  const landing = useMemo(
    () => (request === undefined ? new Map() : landingOf(request, chosen.row, tried.tables)),
    [request, chosen.row, tried.tables],
  );
  return (
    <div class="stack">
      {tried.jobs.map((job, i) => (
        <JobVerdict key={i} job={job} />
      ))}
      {tried.warnings.length > 0 && (
        <Banner kind="warn">
          {tried.warnings.map((warning, i) => (
            <p key={i} class="trial-told">
              <Ticked>{warning}</Ticked>
            </p>
          ))}
        </Banner>
      )}
      <div class="trial-parts">
        <section class="trial-panel" aria-labelledby="trial-requests">
          <h3 id="trial-requests">Requests ({countText(requests.length)})</h3>
          <TrialRequests
            requests={requests}
            current={request}
            onChoose={(key) => setChosen({ request: key })}
          />
        </section>
        <section class="trial-panel" aria-labelledby="trial-answered">
          <h3 id="trial-answered">
            Rows{request !== undefined && ` of request ${countText(requests.indexOf(request) + 1)}`}
          </h3>
          {request === undefined ? (
            <p class="muted">None.</p>
          ) : (
            <TrialRows
              request={request}
              chosen={chosen.row}
              onChoose={(row) => setChosen({ request: request.key, row })}
            />
          )}
        </section>
        <section class="trial-panel" aria-labelledby="trial-tables">
          <h3 id="trial-tables">Tables ({countText(tried.tables.length)})</h3>
          <TrialTables tables={tried.tables} landing={landing} />
          <p class="muted small" role="status">
            {request !== undefined && landedText(request, chosen.row, tried)}
          </p>
        </section>
      </div>
    </div>
  );
}

function requestsOf({ recordings }: Tried): readonly ShownRequest[] {
  return recordings.flatMap(({ row, jobs }) =>
    jobs.flatMap(({ job, runs }, j) =>
      runs.flatMap(({ pages }, r) =>
        pages.map((page, p): ShownRequest => ({ ...page, row, key: `${row ?? ''}/${job}/${j}/${r}/${p}` })),
      ),
    ),
  );
}

/** Describes the place of an answer's row in the tables. */
function landedText(request: ShownRequest, row: number | undefined, { tables }: Tried): string {
  if (tables.length === 0 || (request.took?.count ?? 0) === 0) return '';
  if (row === undefined) return 'Choose a row to see where it is in the tables.';
  const line = lineOf(request, row);
  const name = request.took?.table?.name ?? '';
  if (line === undefined)
    return 'Which lines this row has become is not known: the configuration changes rows, or leaves some out.';
  const shown = tables.find((each) => each.row === request.row && each.name === name)?.rows.length ?? 0;
  return `Row ${countText(row + 1)} is line ${countText(line + 1)} of ${name}${line < shown ? '' : ', behind those that are shown'}.`;
}

function JobVerdict({ job }: { readonly job: ReportedJob }) {
  return (
    <div>
      <Verdict verdict={job.verdict}>
        <span class="mono">
          <Text>{job.row === undefined ? job.job : `${job.row} / ${job.job}`}</Text>
        </span>
        : {countText(job.rows)} {job.rows === 1 ? 'row' : 'rows'} on {countText(job.pages)}{' '}
        {job.pages === 1 ? 'page' : 'pages'}
      </Verdict>
      {job.reasons.length > 0 && (
        <ul class="trial-lines small">
          {job.reasons.map(({ text }, i) => (
            <li key={i}>
              <Ticked>{text}</Ticked>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
