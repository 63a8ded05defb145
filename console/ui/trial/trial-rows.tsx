import { useEffect, useMemo, useRef } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import { isList, type Json } from '../../../src/lib/json/value.ts';
import { countText, Text } from '../values.tsx';
import { JsonTree, lineText } from './json-tree.tsx';
import type { ShownRequest } from './landing.ts';

/** Shows the rows of an answer, and all values of the chosen one. */
export function TrialRows({
  request,
  chosen,
  onChoose,
}: {
  readonly request: ShownRequest;
  readonly chosen: number | undefined;
  readonly onChoose: (index: number | undefined) => void;
}) {
  const { took, answer } = request;
  const rows = useMemo(() => rowsIn(took?.sample), [took?.sample]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.scrollTo(0, 0), [request.key]);
  if (rows.length === 0)
    return (
      <div class="stack">
        <p class="muted">
          {took === undefined
            ? 'No rows were taken of this answer.'
            : `There are no rows in this answer${took.at === undefined || took.at === '' ? '' : ` at “${took.at}”`}.`}
          {answer !== undefined && answer !== '' && ' It begins so:'}
        </p>
        {answer !== undefined && answer !== '' && (
          <pre class="trial-answer" tabIndex={0} aria-label="The answer as it came">
            <Text>{answer}</Text>
          </pre>
        )}
      </div>
    );
  return (
    <>
      <div class="trial-scroll" ref={list} tabIndex={0} role="region" aria-label="Rows of the answer">
        <ol class="trial-choices">
          {rows.map((row, i) => (
            <li key={i}>
              <button
                type="button"
                class="trial-choice trial-row"
                aria-pressed={i === chosen}
                onClick={() => onChoose(i === chosen ? undefined : i)}
              >
                <span class="muted number">{countText(i + 1)}</span>
                <span class="mono trial-row-text">
                  <Text>{lineText(row)}</Text>
                </span>
              </button>
              {i === chosen && (
                <div class="trial-row-whole">
                  <JsonTree value={row} />
                </div>
              )}
            </li>
          ))}
        </ol>
      </div>
      {took !== undefined && took.count > rows.length && (
        <p class="muted small">
          The first {countText(rows.length)} of {countText(took.count)} rows.
        </p>
      )}
    </>
  );
}

function rowsIn(sample: string | undefined): readonly Json[] {
  const rows = sample === undefined ? [] : parseExact(sample);
  return isList(rows) ? rows : [];
}
