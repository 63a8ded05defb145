import { useEffect, useMemo, useState } from 'preact/hooks';
import { client, type SqlResult, type Table } from '../../data/client.ts';
import { useAction, useQuery, wordsOf } from '../../data/query.ts';
import { saveResult } from '../../data/sql-file.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column, type Plain } from '../../ui/data-table.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner, EmptyState, ErrorBanner, Skeleton } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { countText, plural } from '../../ui/values.tsx';
import { Chart } from './chart.tsx';
import type { Mistake, SqlEditor } from './editor.tsx';
import { sqlName } from './name.ts';
import '../../ui/schema-editor.css';
import './sql.css';

/** Rows that are shown; a file has all of them. */
const MOST_ROWS = 10_000;
/** A longer query is not put into the address. */
const MOST_IN_ADDRESS = 3000;

const FILES = [
  { text: 'CSV', format: 'csv' },
  { text: 'Parquet', format: 'parquet' },
  { text: 'JSON lines', format: 'jsonl' },
] as const;

/** Asks the tables in SQL. The address holds the query, so that it can be kept and sent to others. */
export default function SqlView() {
  const { query } = usePlace();
  const kept = query.get('query') ?? '';
  const [given, setGiven] = useState({ text: kept });
  const [text, setText] = useState(kept);
  function write(sql: string): void {
    setGiven({ text: sql });
    setText(sql);
  }
  useEffect(() => {
    if (kept !== '') write(kept);
  }, [kept]);
  const tables = useQuery({
    key: ['tables', 'sql'],
    load: async () => await client().tables.list({ include: ['columns'] }),
  });
  const [result, setResult] = useState<SqlResult | undefined>();
  const run = useAction(async (sql: string) => await client().sql.query(sql, { limit: MOST_ROWS }));
  const save = useAction(async (format: (typeof FILES)[number]['format']) => await saveResult(text, format));
  const mistake = useMemo(() => mistakeOf(run.error), [run.error]);
  const shown = query.get('show') === 'chart' ? 'chart' : 'table';

  async function start(sql: string): Promise<void> {
    if (run.isRunning || sql.trim() === '') return;
    setQuery({ query: sql.length <= MOST_IN_ADDRESS ? sql : undefined });
    save.reset();
    const found = await run.run(sql);
    if (found !== undefined) setResult(found);
  }

  return (
    <Page title="SQL" about='One SELECT over your tables: "in.c-main"."users" is a table of a bucket.'>
      <div class="stack">
        <Editor
          given={given}
          tables={tables.data ?? []}
          mistake={mistake}
          onChange={setText}
          onRun={() => void start(text)}
        />
        <div class="row sql-actions">
          <Button
            kind="primary"
            icon="run"
            isBusy={run.isRunning}
            title="Ctrl+Enter"
            onPress={() => void start(text)}
          >
            Run the query
          </Button>
          <Menu
            icon="download"
            label="Export"
            isLabelShown
            isBusy={save.isRunning}
            isDisabled={text.trim() === ''}
            items={FILES.map((file) => ({
              icon: 'file',
              text: file.text,
              act: () => void save.run(file.format),
            }))}
          />
        </div>
        {run.error !== undefined &&
          (mistake === undefined ? (
            <ErrorBanner error={run.error} />
          ) : (
            <Banner kind="bad">
              Line {mistake.line}, column {mistake.column}: {mistake.message}
            </Banner>
          ))}
        {save.error !== undefined && <ErrorBanner error={save.error} />}
        {result === undefined ? (
          <First tables={tables.data ?? []} onChoose={write} />
        ) : (
          <>
            <p role="status" class="muted small">
              {result.hasMore
                ? `The first ${countText(result.rows.length)} rows: a file has all of them.`
                : plural(result.rows.length, 'row')}
            </p>
            <Tabs
              label="Result"
              tabs={[
                { name: 'table', text: 'Table' },
                { name: 'chart', text: 'Chart' },
              ]}
              current={shown}
              onChange={(name) => setQuery({ show: name === 'chart' ? name : undefined })}
            >
              {shown === 'chart' ? <Chart result={result} /> : <Rows result={result} />}
            </Tabs>
          </>
        )}
      </div>
    </Page>
  );
}

/** Loads the editor at its first use: it is larger than the rest of the page. */
function Editor(props: Parameters<typeof SqlEditor>[0]) {
  const [Part, setPart] = useState<{ readonly Editor: typeof SqlEditor } | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('./editor.tsx').then(({ SqlEditor: loaded }) => setPart({ Editor: loaded }), setError);
  }, []);
  if (error !== undefined) return <ErrorBanner error={error} />;
  return Part === undefined ? <Skeleton label="Loading the editor" /> : <Part.Editor {...props} />;
}

function First({
  tables,
  onChoose,
}: {
  readonly tables: readonly Table[];
  readonly onChoose: (sql: string) => void;
}) {
  const [first] = tables;
  return (
    <div class="card">
      <EmptyState
        icon="query"
        title="Ask your tables"
        action={
          first === undefined ? undefined : (
            <Button onPress={() => onChoose(`SELECT *\nFROM ${sqlName(first.id)}\nLIMIT 100`)}>
              Write a first query
            </Button>
          )
        }
      >
        Ctrl+Enter runs the query. Cells of tables without types are texts: TRY_CAST(price AS DOUBLE) makes
        numbers of them.
      </EmptyState>
    </div>
  );
}

function Rows({ result }: { readonly result: SqlResult }) {
  const columns = useMemo(
    () =>
      result.columns.map(({ name, type }, i): Column<number> => ({
        id: String(i),
        title: name,
        width: Math.min(240, Math.max(110, name.length * 9 + 40)),
        mark: <span class="muted small">{type.toLowerCase()}</span>,
        text: (row) => result.rows[row]?.[i] ?? '',
      })),
    [result],
  );
  const plain = useMemo(
    (): Plain => ({
      cell: (row, column) => ({ text: result.rows[row]?.[column] ?? 'NULL' }),
      onWindow: () => undefined,
    }),
    [result],
  );
  const list = useMemo(() => result.rows.map((_, index) => index), [result]);
  if (list.length === 0) return <p>No rows.</p>;
  return (
    <div class="sql-result">
      <DataTable
        label="Rows of the result"
        columns={columns}
        rows={list}
        rowKey={String}
        plain={plain}
        sort={undefined}
        onSort={() => undefined}
      />
    </div>
  );
}

/** Returns the place that the service told with the error. */
function mistakeOf(error: unknown): Mistake | undefined {
  if (error === undefined) return undefined;
  const found = /Line (\d+), column (\d+): ([\s\S]*)/.exec(wordsOf(error).message);
  if (found === null) return undefined;
  const [, line, column, message = ''] = found;
  return { line: Number(line), column: Number(column), message };
}
