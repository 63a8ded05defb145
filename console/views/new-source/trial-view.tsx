import { useState } from 'preact/hooks';
import type { ReportedJob, Tried, TriedRequest, TriedTable } from '../../data/client.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Badge, EmptyState } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Count, countText, durationText, Text } from '../../ui/values.tsx';
import { Ticked } from './ticked.tsx';
import { leadText } from './lead-text.ts';
import { Verdict } from './verdict.tsx';

interface Request extends TriedRequest {
  readonly key: string;
}

const REQUEST_COLUMNS: readonly Column<Request>[] = [
  {
    id: 'status',
    title: 'Status',
    width: 80,
    show: ({ status }) => <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>,
  },
  {
    id: 'url',
    title: 'Request',
    width: 260,
    text: ({ request }) => `${request.method} ${shortUrl(request.url)}`,
  },
  { id: 'rows', title: 'Rows', width: 70, align: 'right', show: ({ rows }) => <Count value={rows ?? 0} /> },
  { id: 'from', title: 'What led to it', width: 220, text: (request) => leadText(request.from) },
  { id: 'ms', title: 'Time', width: 80, align: 'right', show: ({ ms }) => durationText(ms) },
];

/** What came of a trial: its requests beside its tables, and below each other where there is little room. */
export function TrialView({ tried }: { readonly tried: Tried }) {
  const [tab, setTab] = useState<'requests' | 'tables'>('tables');
  const requests = tried.recordings.flatMap(({ row, jobs }) =>
    jobs.flatMap(({ job, runs }, j) =>
      runs.flatMap(({ pages }, r) =>
        pages.map((page, p): Request => ({ ...page, key: `${row ?? ''}/${job}/${j}/${r}/${p}` })),
      ),
    ),
  );
  return (
    <div class="stack">
      {tried.jobs.map((job, i) => (
        <JobVerdict key={i} job={job} />
      ))}
      <div class="new-narrow">
        <Tabs
          label="What came of it"
          tabs={[
            { name: 'tables', text: `Tables (${countText(tried.tables.length)})` },
            { name: 'requests', text: `Requests (${countText(requests.length)})` },
          ]}
          current={tab}
          onChange={setTab}
        >
          {tab === 'tables' ? <TriedTables tables={tried.tables} /> : <Requests requests={requests} />}
        </Tabs>
      </div>
      <div class="new-wide new-trial">
        <div class="stack">
          <h3>Requests</h3>
          <Requests requests={requests} />
        </div>
        <div class="stack">
          <h3>Tables</h3>
          <TriedTables tables={tried.tables} />
        </div>
      </div>
    </div>
  );
}

function JobVerdict({ job }: { readonly job: ReportedJob }) {
  return (
    <div>
      <Verdict verdict={job.verdict}>
        <span class="mono">
          <Text>{job.row === undefined ? job.job : `${job.row} / ${job.job}`}</Text>
        </span>
        : {countText(job.rows)} rows on {countText(job.pages)} {job.pages === 1 ? 'page' : 'pages'}
      </Verdict>
      {job.reasons.length > 0 && (
        <ul class="new-lines small">
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

function Requests({ requests }: { readonly requests: readonly Request[] }) {
  if (requests.length === 0) return <p class="muted">No request was made.</p>;
  return (
    <DataTable
      label="Requests"
      columns={REQUEST_COLUMNS}
      rows={requests}
      rowKey={({ key }) => key}
      rowHeight={36}
    />
  );
}

function TriedTables({ tables }: { readonly tables: readonly TriedTable[] }) {
  const [chosen, setChosen] = useState(0);
  const table = tables[chosen] ?? tables[0];
  if (table === undefined) return <EmptyState icon="table" title="No table came of it" />;
  const columns = table.columns.map((name, i): Column<readonly string[]> => ({
    id: `${i}`,
    title: table.primaryKey.includes(name) ? `${name} (key)` : name,
    width: 140,
    text: (row) => row[i] ?? '',
  }));
  return (
    <div class="stack">
      <div class="row">
        {tables.map((each, i) => (
          <button
            key={`${each.row ?? ''}/${each.name}`}
            type="button"
            class="tree-mark"
            aria-pressed={each === table}
            onClick={() => setChosen(i)}
          >
            <Text>{each.row === undefined ? each.name : `${each.row} / ${each.name}`}</Text>
          </button>
        ))}
        <span class="muted small">
          {countText(table.rowsCount)} rows{table.incremental ? ', added to what is there' : ''}
          {table.rows.length < table.rowsCount ? `, ${countText(table.rows.length)} shown` : ''}
        </span>
      </div>
      <DataTable
        label={`Table ${table.name}`}
        columns={columns}
        rows={table.rows}
        rowKey={(_, i) => `${i}`}
        rowHeight={32}
      />
    </div>
  );
}

/** Without the host, which all have in common. */
function shortUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}
