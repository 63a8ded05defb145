import { client, type RowOrigin, type Table, type WhereFilter } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { maySee } from '../../data/session.ts';
import { nameOf, useSources } from '../../data/sources.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { JsonBlock } from '../../ui/json-block.tsx';
import { SourceLink } from '../../ui/source-link.tsx';
import { Badge, Loaded } from '../../ui/states.tsx';
import { By, RelativeTime, Text } from '../../ui/values.tsx';

/** Columns that tell a row of a table without a key from others. */
const MOST_COLUMNS = 20;

export interface Value {
  readonly text: string;
  readonly isCut: boolean;
}

/** Returns the filters that choose a row: by its primary key, or by its values where there is no key. */
export function filtersOf(
  { primaryKey }: Table,
  values: ReadonlyMap<string, Value>,
): readonly WhereFilter[] | undefined {
  const columns = primaryKey.length > 0 ? primaryKey : [...values.keys()].slice(0, MOST_COLUMNS);
  const filters = columns.flatMap((column): WhereFilter[] => {
    const value = values.get(column);
    return value === undefined || value.isCut ? [] : [{ column, operator: 'eq', values: [value.text] }];
  });
  const isChosen = primaryKey.length > 0 ? filters.length === primaryKey.length : filters.length > 0;
  return isChosen ? filters : undefined;
}

/** Shows which load, run and request brought a row. */
export function RowOriginOf({
  table,
  filters,
}: {
  readonly table: Table;
  readonly filters: readonly WhereFilter[];
}) {
  const origin = useQuery({
    key: ['tables', table.id, 'row-origin', filters, table.lastChangeDate],
    load: async (signal) => await client().tables.rowOrigin(table.id, { whereFilters: filters }, { signal }),
  });
  return (
    <section class="stack tables-row-origin card" aria-label="Where this row comes from">
      <Loaded query={origin}>{(found) => <Found origin={found} />}</Loaded>
    </section>
  );
}

function Found({ origin }: { readonly origin: RowOrigin }) {
  const { loads, request, unknown, changedTime } = origin;
  return (
    <>
      <p>
        Last written <RelativeTime value={changedTime} />
        {loads.length > 0 && ' by '}
        {loads.map((load, i) => (
          <span key={load.job}>
            {i > 0 && ' or '}
            <LoadedBy load={load} />
          </span>
        ))}
        .
      </p>
      {request !== null && <Requested request={request} />}
      {unknown.map((sentence) => (
        <p key={sentence} class="muted">
          <Text>{sentence}</Text>
        </p>
      ))}
    </>
  );
}

function LoadedBy({ load }: { readonly load: RowOrigin['loads'][number] }) {
  const sources = useSources();
  const { run, job, component, configuration, creatorToken } = load;
  if (run === null)
    return (
      <>
        <Link to={at`/jobs/${job}`}>job {job}</Link> of <By token={creatorToken} />
      </>
    );
  return (
    <>
      {maySee(component) ? <Link to={at`/runs/${run}`}>run {run}</Link> : `run ${run}`}
      {component !== undefined && configuration !== undefined && (
        <>
          {' of '}
          {maySee(component) ? (
            <SourceLink
              {...{ component, configuration }}
              name={nameOf(sources.data, component, configuration)}
            />
          ) : (
            <Text>{configuration}</Text>
          )}
        </>
      )}
    </>
  );
}

function Requested({ request: asked }: { readonly request: NonNullable<RowOrigin['request']> }) {
  const { run, job, page, request, status, path, record, columns, isSure } = asked;
  return (
    <>
      <p>
        <code class="tables-asked">
          <Text>{`${request.method} ${request.url}`}</Text>
        </code>{' '}
        <Badge tone={status < 400 ? 'good' : 'bad'} isPlain>
          {status}
        </Badge>
      </p>
      <p>
        {isSure ? 'It brought the row' : 'It is likely to have brought the row'}: page {page} of the job{' '}
        <Text>{job}</Text>
        {path !== '' && (
          <>
            , <code>{path}</code> of its answer
          </>
        )}
        {!isSure && columns.length > 0 && (
          <>
            , which has the values of <Text>{columns.join(', ')}</Text>
          </>
        )}
        .{' '}
        <Link
          to={at`/runs/${run}?tab=requests&job=${job}&page=${page}&answered=${asked.at}&of=${asked.row ?? ''}`}
        >
          Show it in the time line
        </Link>
      </p>
      {record !== undefined && <JsonBlock value={record} label="What the API answered" />}
    </>
  );
}
