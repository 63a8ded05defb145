import { useMemo } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import type { FoundList } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Banner } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';
import { openText, wantsMore } from './advice.ts';
import { AnswerTree } from './answer-tree.tsx';
import { Choices } from './choices.tsx';
import { ColumnsForm } from './columns-form.tsx';
import { fieldsOf, rowsAt } from './fields.ts';
import {
  columnsOf,
  rowsPathOf,
  sinceOf,
  tableOf,
  TIME_FORMATS,
  withColumn,
  withRowsPath,
  withSince,
  withTable,
} from './plan.ts';
import { Ticked } from '../../ui/trial/ticked.tsx';
import type { Again } from './use-look.ts';
import { Verdict } from '../../ui/trial/verdict.tsx';

export interface FoundListViewProps {
  readonly found: FoundList;
  readonly document: Json;
  readonly time: string | undefined;
  readonly onTime: (path: string | undefined) => void;
  readonly onChange: (document: Json) => void;
  readonly isBusy: boolean;
  readonly onAgain: (how: Again) => void;
}

/** Shows the answer of the API, and the table that is made of it. */
export function FoundListView(props: FoundListViewProps) {
  const { found, document, time, onTime, onChange, isBusy, onAgain } = props;
  const answer = useMemo(() => parseExact(found.answer), [found.answer]);
  const path = rowsPathOf(document) ?? found.rows.path;
  const rows = useMemo(() => rowsAt(answer, path), [answer, path]);
  const fields = useMemo(() => fieldsOf(rows), [rows]);
  const columns = columnsOf(document, fields);
  const keys = columns.filter(({ isKey }) => isKey).map((column) => column.path);
  const marks = new Map<string, readonly ('id' | 'time')[]>();
  for (const key of keys) marks.set(key, ['id']);
  if (time !== undefined) marks.set(time, [...(marks.get(time) ?? []), 'time']);
  const isProposed = keys.length === 0 && found.id.length > 0 && path === found.rows.path;

  return (
    <>
      <Choices choices={found.choices} isBusy={isBusy} onChoose={(select) => onAgain({ select })} />
      <section class="card new-card stack" aria-labelledby="new-found">
        <h2 id="new-found">What was found</h2>
        <Verdict verdict={found.verdict}>
          {countText(found.rowsRead)} rows on {countText(found.pages)} {found.pages === 1 ? 'page' : 'pages'},{' '}
          {countText(found.requests)} {found.requests === 1 ? 'request' : 'requests'}
        </Verdict>
        <Pagination found={found} isBusy={isBusy} onAgain={onAgain} />
      </section>
      <section class="card new-card stack" aria-labelledby="new-rows">
        <h2 id="new-rows">Rows and columns</h2>
        <div class="new-two">
          <div class="stack">
            <h3>The answer</h3>
            <p class="muted small">
              Mark the <b>id</b>, which tells the rows apart, and the <b>time</b> at which a row was changed.
            </p>
            <div class="trial-scroll new-tree" tabIndex={0} role="region" aria-label="The answer">
              <AnswerTree
                answer={answer}
                lengths={found.lengths}
                rows={path}
                onRows={(next) => {
                  onTime(undefined);
                  onChange(withRowsPath(document, next));
                }}
                marks={marks}
                onMark={(field, mark) => {
                  if (mark === 'id')
                    onChange(
                      withColumn(document, fields, field, { isKey: !keys.includes(field), isTaken: true }),
                    );
                  else onTime(time === field ? undefined : field);
                }}
              />
            </div>
          </div>
          <div class="stack">
            <h3>The table</h3>
            <div class="new-pair">
              <Input
                label="Name of the table"
                value={tableOf(document)}
                isMono
                onInput={(name) => onChange(withTable(document, name))}
              />
              <Input
                label="Where the rows are"
                value={path}
                isMono
                placeholder="the whole answer"
                onInput={(next) => onChange(withRowsPath(document, next))}
                {...(rows.length === 0 ? { problem: 'There are no rows at this place of the answer.' } : {})}
              />
            </div>
            {isProposed && (
              <Banner
                action={
                  <button
                    type="button"
                    class="button"
                    onClick={() =>
                      onChange(
                        found.id.reduce(
                          (next, id) => withColumn(next, fields, id, { isKey: true }),
                          document,
                        ),
                      )
                    }
                  >
                    Use it as the key
                  </button>
                }
              >
                <span class="mono">
                  <Text>{found.id.join(' and ')}</Text>
                </span>{' '}
                is in every row, and in no two the same.
              </Banner>
            )}
            <ColumnsForm document={document} fields={fields} onChange={onChange} />
            {time !== undefined && (
              <SinceForm
                document={document}
                time={time}
                hasKey={keys.length > 0}
                example={fields.find((field) => field.path === time)?.example ?? ''}
                onChange={onChange}
              />
            )}
          </div>
        </div>
      </section>
    </>
  );
}

const FORMATS = [
  { value: TIME_FORMATS.iso, text: '2026-03-01T10:00:00Z' },
  { value: TIME_FORMATS.day, text: '2026-03-01' },
  { value: TIME_FORMATS.seconds, text: '1772359200 (Unix time)' },
] as const;

/** Returns the form that a time is written in, as its field holds it. */
function formatOf(example: string): string {
  if (/^\d{9,10}(?:\.\d+)?$/.test(example)) return TIME_FORMATS.seconds;
  return /^\d{4}-\d\d-\d\d$/.test(example) ? TIME_FORMATS.day : TIME_FORMATS.iso;
}

/** Chooses the field by which a run loads only rows that changed since the last one. */
function SinceForm({
  document,
  time,
  hasKey,
  example,
  onChange,
}: {
  readonly document: Json;
  readonly time: string;
  /** A value of the field. */
  readonly example: string;
  readonly hasKey: boolean;
  readonly onChange: (document: Json) => void;
}) {
  const since = sinceOf(document);
  const format = since?.format ?? formatOf(example);
  return (
    <fieldset class="new-since">
      <legend>Only what is new</legend>
      <p class="muted small">
        <span class="mono">
          <Text>{time}</Text>
        </span>{' '}
        may say when a row has changed: its name and its values look like it, and nothing proves it. If the
        API has a parameter that filters by it, such as <span class="mono">updated_since</span>, each run asks
        only for what has changed since the run before. Its documentation tells both.
      </p>
      <div class="new-pair">
        <Input
          label="Parameter of the API"
          value={since?.param ?? ''}
          isMono
          placeholder="none: load everything each time"
          onInput={(param) => onChange(withSince(document, { param, format }))}
        />
        <Select
          label="How it is written"
          value={format}
          options={
            FORMATS.some(({ value }) => value === format)
              ? FORMATS
              : [...FORMATS, { value: format, text: format }]
          }
          isDisabled={since === undefined}
          onChange={(next) =>
            since !== undefined && onChange(withSince(document, { ...since, format: next }))
          }
        />
      </div>
      {since !== undefined && !hasKey && (
        <Banner kind="warn">Choose a key as well: without one, rows that change come a second time.</Banner>
      )}
    </fieldset>
  );
}

/** As many as the service makes at most. */
const MORE_REQUESTS = 50;

/** Shows how the pages follow each other, the evidence for and against it, and open points. */
function Pagination({ found, isBusy, onAgain }: Pick<FoundListViewProps, 'found' | 'isBusy' | 'onAgain'>) {
  return (
    <div class="new-two">
      <div class="stack">
        <h3>How the pages follow</h3>
        <p>
          {found.nextPage === null ? (
            found.pages > 1 ? (
              'No way to the next page was found.'
            ) : (
              'There is one page.'
            )
          ) : (
            <Ticked>{found.nextPage}</Ticked>
          )}
        </p>
        <Lines title="What speaks for it" lines={found.evidence} />
        <Lines title="What speaks against it" lines={found.against} />
        <Lines title="What ended it" lines={found.report?.reasons.map(({ text }) => text) ?? []} />
      </div>
      <div class="stack">
        <Lines title="Not known yet" lines={found.open.map(openText)} />
        {wantsMore(found.open) && found.requests < MORE_REQUESTS && (
          <div>
            <Button isDisabled={isBusy} onPress={() => onAgain({ maxRequests: MORE_REQUESTS })}>
              Look again with up to {MORE_REQUESTS} requests
            </Button>
          </div>
        )}
        {found.tried.length > 0 && (
          <details>
            <summary>Tried, and not taken ({countText(found.tried.length)})</summary>
            <ul class="trial-lines">
              {found.tried.map(({ what, result }, i) => (
                <li key={i}>
                  <Ticked>{`${what}: ${result}`}</Ticked>
                </li>
              ))}
            </ul>
          </details>
        )}
        <details>
          <summary>Requests that were made ({countText(found.sent.length)})</summary>
          <ol class="trial-lines mono">
            {found.sent.map(({ method, url }, i) => (
              <li key={i}>
                <Text>{`${method} ${url}`}</Text>
              </li>
            ))}
          </ol>
        </details>
      </div>
    </div>
  );
}

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div>
      <h4>{title}</h4>
      <ul class="trial-lines">
        {lines.map((line, i) => (
          <li key={i}>
            <Ticked>{line}</Ticked>
          </li>
        ))}
      </ul>
    </div>
  );
}
