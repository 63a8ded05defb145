import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { columnName } from '../../../src/lib/names.ts';
import { client, type ImportResult, type Table } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { uploadFile } from '../../data/file-transfer.ts';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { CSV_FILES, DropZone } from '../../ui/drop-zone.tsx';
import { Checkbox, Input, Select } from '../../ui/field.tsx';
import { Banner, ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { bytesText, countText, plural, Text } from '../../ui/values.tsx';
import { csvStart, DELIMITERS, type CsvStart } from './csv-header.ts';
import { trimBoth } from '../../../src/lib/trim.ts';

interface Chosen {
  readonly file: File;
  /** Undefined where its first line cannot be read: the service says why. */
  readonly start: CsvStart | undefined;
  /** Sign between the cells. */
  readonly delimiter: string;
}

/** Drop zone and button for a file; the beginning of the file is read at once. */
function CsvZone({ about, onFile }: { readonly about: string; readonly onFile: (chosen: Chosen) => void }) {
  return (
    <DropZone
      label="Choose a file"
      about={about}
      accept={CSV_FILES}
      isSingle
      onFiles={([file]) => file && void look(file).then(onFile)}
    />
  );
}

async function look(file: File): Promise<Chosen> {
  const start = await csvStart(file).catch(() => undefined);
  return { file, start, delimiter: start?.delimiter ?? ',' };
}

/** Chooses the sign between the cells, where the first line leaves a doubt or another one than the comma is in it. */
function Delimiter({
  chosen,
  onChange,
}: {
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
}) {
  const { start, delimiter } = chosen;
  const count = start?.columns(delimiter).length ?? 0;
  return (
    <Select
      label="Between the columns"
      value={delimiter}
      options={DELIMITERS}
      hint={start === undefined ? undefined : `The first line has ${plural(count, 'column')} by it.`}
      onChange={(value) => onChange({ ...chosen, delimiter: value })}
    />
  );
}

/** Loads a file into a table that is there. */
export function ImportInto({ table }: { readonly table: Table }) {
  const [chosen, setChosen] = useState<Chosen | undefined>();
  const [mode, setMode] = useState<'add' | 'replace'>('add');
  const [isAsking, setAsking] = useState(false);
  const [result, setResult] = useState<ImportResult | undefined>();
  const work = useUpload(async (file, send) => {
    const stored = await send(file);
    const incremental = mode === 'add';
    return await client().tables.load(table.id, {
      dataFileId: stored,
      incremental,
      delimiter: chosen?.delimiter,
    });
  });
  const load = async (file: File): Promise<void> => {
    setAsking(false);
    const done = await work.run(file);
    if (done === undefined) return;
    setResult(done);
    setChosen(undefined);
    toast('The file is imported.');
    await invalidate('tables');
  };
  if (table.isAlias)
    return (
      <Banner>This table shows rows of another one, and takes none itself. Import into that one.</Banner>
    );
  return (
    <div class="stack tables-form">
      {chosen === undefined && (
        <>
          <CsvZone
            about="Drop a CSV file here, or one that is compressed by gzip."
            onFile={(found) => {
              work.reset();
              setResult(undefined);
              setChosen(found);
            }}
          />
          <p class="muted small">
            The first line has the names of the columns, and columns are matched by them. A file is imported
            whole or not at all.
          </p>
        </>
      )}
      {result !== undefined && (
        <Banner kind="good">
          <p>
            {result.importedRowsCount === undefined
              ? 'The file is imported'
              : `${plural(result.importedRowsCount, 'row')} imported`}
            : the table has {plural(result.totalRowsCount, 'row')} now.
          </p>
        </Banner>
      )}
      {chosen !== undefined && (
        <form
          class="card tables-card stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (mode === 'replace' && table.rowsCount !== 0) setAsking(true);
            else void load(chosen.file);
          }}
        >
          <FileName {...chosen} />
          <Delimiter chosen={chosen} onChange={setChosen} />
          <Matching table={table} chosen={chosen} />
          <Select
            label="What happens to the rows that are there"
            value={mode}
            options={[
              { value: 'add', text: 'They stay, and those of the file are added' },
              { value: 'replace', text: 'They are replaced by those of the file' },
            ]}
            hint={
              mode === 'add' && table.primaryKey.length > 0
                ? `A row whose key (${table.primaryKey.join(', ')}) is there already takes its place.`
                : undefined
            }
            isDisabled={work.isRunning}
            onChange={setMode}
          />
          <Progress work={work} />
          {work.error !== undefined && (
            <>
              <ErrorBanner error={work.error} />
              <p class="muted small">Nothing was changed: the table is as it was.</p>
            </>
          )}
          <div class="row">
            <Button kind="primary" type="submit" isBusy={work.isRunning}>
              Import the file
            </Button>
            <Button
              onPress={() => {
                work.stop();
                setChosen(undefined);
              }}
            >
              {work.isRunning ? 'Stop' : 'Choose another'}
            </Button>
          </div>
        </form>
      )}
      {isAsking && chosen !== undefined && (
        <Confirm
          title="Replace all rows?"
          action="Replace the rows"
          onClose={() => setAsking(false)}
          onConfirm={() => void load(chosen.file)}
        >
          <p>
            {table.rowsCount === null ? 'The rows' : plural(table.rowsCount, 'row')} of{' '}
            <Text>{table.id}</Text> go, and those of the file take their place. This cannot be taken back.
          </p>
        </Confirm>
      )}
    </div>
  );
}

export interface ImportAsTableProps {
  /** The bucket, when the file is there: it may have to be made. */
  readonly into: () => Promise<string>;
  /** A file that was dropped elsewhere. */
  readonly first?: File | undefined;
  /** Further fields of the form. */
  readonly children?: ComponentChildren;
}

/** Makes a table of a file. */
export function ImportAsTable({ into, first, children }: ImportAsTableProps) {
  const [chosen, setChosen] = useState<Chosen | undefined>();
  const [name, setName] = useState('');
  const [key, setKey] = useState<readonly string[]>([]);
  const work = useUpload(async (file, send) => {
    const stored = await send(file);
    return await client().tables.create(await into(), {
      name,
      dataFileId: stored,
      primaryKey: key,
      delimiter: chosen?.delimiter,
    });
  });
  function choose(found: Chosen): void {
    work.reset();
    setChosen(found);
    setKey([]);
    setName(
      trimBoth(
        found.file.name
          .replace(/\.gz$/i, '')
          .replace(/\.\w+$/, '')
          .replaceAll(/[^\w-]+/g, '_'),
        '_',
      ),
    );
  }
  useEffect(() => {
    if (first !== undefined) void look(first).then(choose);
  }, [first]);
  if (chosen === undefined)
    return <CsvZone about="Drop a CSV file here to make a table of it." onFile={choose} />;
  const columns = columnsOf(chosen)
    .map(columnName)
    .filter((column) => column !== '');
  return (
    <form
      class="card tables-card stack"
      onSubmit={(event) => {
        event.preventDefault();
        void work.run(chosen.file).then(async (table) => {
          if (table === undefined) return;
          toast('The table is made.');
          await invalidate('tables');
          await invalidate('buckets');
          navigate(at`/tables/${table.id}`);
        });
      }}
    >
      <h2>New table</h2>
      <FileName {...chosen} />
      <Delimiter
        chosen={chosen}
        onChange={(next) => {
          setChosen(next);
          setKey([]);
        }}
      />
      {children}
      <Input label="Name of the table" value={name} onInput={setName} isRequired isMono />
      {columns.length > 0 && columns.length <= 50 && (
        <fieldset class="tables-keys">
          <legend>Primary key: what tells one row from another; none is fine, too</legend>
          <div class="row">
            {columns.map((column) => (
              <Checkbox
                key={column}
                label={<Text>{column}</Text>}
                isChecked={key.includes(column)}
                onChange={(isIn) => setKey(isIn ? [...key, column] : key.filter((each) => each !== column))}
              />
            ))}
          </div>
        </fieldset>
      )}
      <Progress work={work} />
      {work.error !== undefined && <ErrorBanner error={work.error} />}
      <div class="row">
        <Button kind="primary" type="submit" isBusy={work.isRunning}>
          Make the table
        </Button>
        <Button
          onPress={() => {
            work.stop();
            setChosen(undefined);
          }}
        >
          {work.isRunning ? 'Stop' : 'Cancel'}
        </Button>
      </div>
    </form>
  );
}

function FileName({ file, start }: Pick<Chosen, 'file' | 'start'>) {
  return (
    <div>
      <strong>
        <Text>{file.name}</Text>
      </strong>{' '}
      <span class="muted small">
        {bytesText(file.size)}
        {start?.isGzip === true && ', compressed'}
      </span>
      {start === undefined && (
        <Banner kind="warn">
          The beginning of this file does not look like CSV. The import says where it stops being so, and
          changes nothing then.
        </Banner>
      )}
    </div>
  );
}

/** Shows which columns of a file match those of the table, which it adds and which it lacks. */
function Matching({ table, chosen }: { readonly table: Table; readonly chosen: Chosen }) {
  if (chosen.start === undefined) return null;
  const there = new Set(table.columns);
  const given = columnsOf(chosen).map(columnName);
  const added = given.filter((name) => !there.has(name));
  const missing = [...there].filter((name) => !given.includes(name));
  return (
    <ul class="tables-matching">
      <li>Matched by their names: {plural(given.length - added.length, 'column')}.</li>
      {added.length > 0 && (
        <li>
          {added.length === 1
            ? 'One column is new and is added: '
            : `${countText(added.length)} columns are new and are added: `}
          <Text>{listed(added)}</Text>
        </li>
      )}
      {missing.length > 0 && (
        <li class="tables-missing">
          The file does not have <Text>{listed(missing)}</Text>.
        </li>
      )}
    </ul>
  );
}

const columnsOf = ({ start, delimiter }: Chosen): readonly string[] => start?.columns(delimiter) ?? [];

const listed = (names: readonly string[]): string =>
  names.length > 12
    ? `${names.slice(0, 12).join(', ')} and ${countText(names.length - 12)} more`
    : names.join(', ');

interface Upload<T> {
  run(file: File): Promise<T | undefined>;
  stop(): void;
  reset(): void;
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Part of the file that was sent. */
  readonly sent: number;
}

function useUpload<T>(work: (file: File, send: (file: File) => Promise<number>) => Promise<T>): Upload<T> {
  const [sent, setSent] = useState(0);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const action = useAction(async (file: File) => {
    const { signal } = (running.current = new AbortController());
    setSent(0);
    return await work(
      file,
      async (content) => (await uploadFile(content, { signal, onProgress: setSent })).id,
    );
  });
  return { ...action, sent, stop: () => running.current?.abort() };
}

function Progress({ work: { isRunning, sent } }: { readonly work: Upload<unknown> }) {
  if (!isRunning) return null;
  const text = sent < 1 ? `Sending the file: ${Math.floor(sent * 100)} %` : 'The service reads the file';
  return (
    <div class="tables-progress">
      <progress aria-label={text} {...(sent < 1 ? { value: sent } : {})} max={1} />
      <span class="muted small" role="status">
        {text}
      </span>
    </div>
  );
}
