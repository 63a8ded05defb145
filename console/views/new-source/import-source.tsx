import { useEffect, useMemo, useState } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import { client, type ImportedSource, type ImportTool } from '../../data/client.ts';
import { useAction } from '../../data/query.ts';
import { navigate, useUnsaved } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DropZone } from '../../ui/drop-zone.tsx';
import { Select, TextArea } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Banner, ErrorBanner } from '../../ui/states.tsx';
import { plural, Text } from '../../ui/values.tsx';
import { DocumentEditor } from './document-editor.tsx';
import { SaveForm } from './save-form.tsx';

const TOOLS: readonly { readonly value: ImportTool; readonly text: string; readonly file: string }[] = [
  { value: 'airbyte', text: 'Airbyte: a declarative manifest', file: 'manifest.yaml' },
  { value: 'dlt', text: 'dlt: a rest_api source, in Python or JSON', file: 'pipeline.py' },
  { value: 'singer', text: 'Singer or Meltano: tap-rest-api-msdk', file: 'meltano.yml' },
  { value: 'n8n', text: 'n8n: a workflow with HTTP Request nodes', file: 'workflow.json' },
  { value: 'postman', text: 'Postman: a collection', file: 'collection.json' },
  { value: 'har', text: 'HAR: what a browser recorded', file: 'recording.har' },
  { value: 'curl', text: 'A shell script with a loop around curl', file: 'fetch.sh' },
];

/** Proposes the tool that a file is probably of. */
function toolOf(name: string, text: string): ImportTool {
  if (/\.har$/i.test(name)) return 'har';
  if (/\.py$/i.test(name)) return 'dlt';
  if (/\.(?:sh|bash)$/i.test(name)) return 'curl';
  if (/tap-rest-api-msdk|"streams"\s*:[^]*"records_path"/.test(text)) return 'singer';
  if (/"_postman_id"|schema\.getpostman\.com/.test(text)) return 'postman';
  if (/"n8n-nodes-base\./.test(text)) return 'n8n';
  if (/^\s*\{\s*"log"\s*:/.test(text)) return 'har';
  if (/^\s*(?:#!|curl\b)|\bcurl\s+-/m.test(text) && !/DeclarativeSource/.test(text)) return 'curl';
  if (/"resources"\s*:/.test(text) && !/DeclarativeSource/.test(text)) return 'dlt';
  return 'airbyte';
}

/** Takes the file of another tool, says what becomes of each stream, and saves it as a source. */
export function ImportSource() {
  const [text, setText] = useState('');
  const [file, setFile] = useState('');
  const [ownTool, setTool] = useState<ImportTool | undefined>();
  const [document, setDocument] = useState<Json | undefined>();
  const [imported, setImported] = useState<ImportedSource | undefined>();
  const [isEditing, setEditing] = useState(false);
  const [savedAt, setSavedAt] = useState<string | undefined>();
  const guessed = useMemo(() => toolOf(file, text), [file, text]);
  const tool = ownTool ?? guessed;
  const name = file || (TOOLS.find(({ value }) => value === tool)?.file ?? '');
  const [beside, setBeside] = useState<Readonly<Record<string, string>>>({});
  const isWithPython = tool === 'airbyte';
  const action = useAction(
    async () =>
      await client().workshop.import({ tool, text, file: name, ...(isWithPython ? { beside } : {}) }),
  );
  useUnsaved(imported !== undefined && savedAt === undefined);
  useEffect(() => {
    // Once nothing asks any more whether to leave what is not saved.
    if (savedAt !== undefined) navigate(savedAt);
  }, [savedAt]);
  const forget = (): void => {
    setImported(undefined);
    setDocument(undefined);
    action.reset();
  };
  return (
    <Page
      title="Import from another tool"
      crumbs={[{ to: '/new', text: 'New source' }]}
      about="From the file of another tool to a source: see what becomes of each stream, save it. Nothing of the file is run."
    >
      <form
        class="card new-card stack"
        onSubmit={(event) => {
          event.preventDefault();
          forget();
          void action.run(undefined).then((found) => {
            if (found === undefined) return;
            setImported(found);
            setDocument(parseExact(found.configuration));
          });
        }}
      >
        <DropZone
          label="Choose a file"
          about={file === '' ? 'Drop the file here, or paste it below.' : <Text>{file}</Text>}
          isSingle
          onFiles={([given]) => {
            if (given === undefined) return;
            forget();
            setFile(given.name);
            void given.text().then(setText);
          }}
        />
        <TextArea
          label="The file"
          value={text}
          onInput={(value) => {
            forget();
            setText(value);
          }}
          rows={8}
          isMono
        />
        <Select
          label="It is of"
          value={tool}
          options={TOOLS.map((each) => ({ value: each.value, text: each.text }))}
          onChange={(value) => {
            forget();
            setTool(value);
          }}
        />
        {isWithPython && (
          <DropZone
            label="Choose Python files"
            about={
              Object.keys(beside).length === 0
                ? 'A manifest may name classes of Python files beside it, such as components.py: give them, too. They are read, and never run.'
                : Object.keys(beside).join(', ')
            }
            accept=".py,text/x-python"
            onFiles={(files) => {
              forget();
              void Promise.all(files.map(async (given) => [given.name, await given.text()] as const)).then(
                (read) => setBeside((before) => ({ ...before, ...Object.fromEntries(read) })),
              );
            }}
          />
        )}
        <div>
          <Button type="submit" kind="primary" isBusy={action.isRunning} isDisabled={text.trim() === ''}>
            Look at it
          </Button>
        </div>
        {action.error !== undefined && <ErrorBanner error={action.error} />}
      </form>
      {imported !== undefined && document !== undefined && (
        <>
          <Report report={imported.report} />
          <details class="card new-card" onToggle={(event) => setEditing(event.currentTarget.open)}>
            <summary>The configuration as JSON</summary>
            {isEditing && <DocumentEditor document={document} onChange={setDocument} />}
          </details>
          <SaveForm document={document} proposed={imported.report.source || name} onSaved={setSavedAt} />
        </>
      )}
    </Page>
  );
}

const OUTCOMES = {
  exact: ['good', 'exact'],
  'equal rows, other columns': ['warn', 'other columns'],
  'more rows': ['warn', 'more rows'],
  'other rows': ['warn', 'maybe other rows'],
  not: ['bad', 'not taken over'],
} as const;

function Report({ report }: { readonly report: ImportedSource['report'] }) {
  const { streams, settings, notes } = report;
  const count = (outcome: keyof typeof OUTCOMES): number =>
    streams.filter((stream) => stream.outcome === outcome).length;
  return (
    <section class="card new-card stack" aria-labelledby="import-report">
      <h2 id="import-report">What becomes of it</h2>
      <p role="status">
        {plural(streams.length, 'stream')}: {count('exact')} exact, {count('equal rows, other columns')} with
        equal rows and other columns, {count('more rows') > 0 && `${count('more rows')} with more rows, `}
        {count('other rows') > 0 && `${count('other rows')} that may have other rows, `}
        {count('not')} not taken over.
      </p>
      {notes.map((note) => (
        <Banner key={note}>
          <Text>{note}</Text>
        </Banner>
      ))}
      <table class="new-import">
        <thead>
          <tr>
            <th scope="col">Stream</th>
            <th scope="col">Taken over</th>
            <th scope="col">What differs, and why</th>
          </tr>
        </thead>
        <tbody>
          {streams.map((stream) => (
            <tr key={stream.stream}>
              <th scope="row">
                <Text>{stream.stream}</Text>
              </th>
              <td>
                <Badge tone={OUTCOMES[stream.outcome][0]}>{OUTCOMES[stream.outcome][1]}</Badge>
              </td>
              <td>
                {[
                  ...stream.reasons.map(({ message, path }) => `${message} (${path})`),
                  ...stream.columns,
                  ...stream.notes,
                ].map((line) => (
                  <p key={line}>
                    <Text>{line}</Text>
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {count('not') > 0 && (
        <p class="muted">
          Rows of streams that are not taken over are saved disabled: finish them by hand, and enable them
          then.
        </p>
      )}
      {settings.length > 0 && (
        <>
          <h3>Settings to fill in</h3>
          <p class="muted">
            Below parameters.config of the configuration; secrets are encrypted when it is saved.
          </p>
          <ul>
            {settings.map(({ key, title, isRequired, example }) => (
              <li key={key}>
                <code>{key}</code>: <Text>{title}</Text>
                {!isRequired && <span class="muted"> (may stay empty)</span>}
                {example !== undefined && (
                  <span class="muted">
                    , for example <Text>{example}</Text>
                  </span>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
