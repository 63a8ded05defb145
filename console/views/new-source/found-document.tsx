import { useMemo } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import type { FoundDocument } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Input } from '../../ui/field.tsx';
import { Badge } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';
import { Ticked } from '../../ui/trial/ticked.tsx';
import { VerdictBadge } from '../../ui/trial/verdict.tsx';
import { rowIdsOf, withOnlyRows } from './plan.ts';

export interface FoundDocumentViewProps {
  readonly found: FoundDocument;
  readonly document: Json;
  readonly secrets: ReadonlyMap<string, string>;
  readonly onSecret: (name: string, value: string) => void;
  readonly onChange: (document: Json) => void;
  readonly isBusy: boolean;
  /** Asks for each list. */
  readonly onTry: () => void;
}

/** Shows the lists of a document, with the choice of those to include. */
export function FoundDocumentView(props: FoundDocumentViewProps) {
  const { found, document, secrets, onSecret, onChange, isBusy, onTry } = props;
  const isTried = found.lists.some(({ attempt }) => attempt !== undefined);
  const whole = useMemo(() => parseExact(found.configuration), [found.configuration]);
  const taken = new Set(rowIdsOf(document));
  const all = rowIdsOf(whole);
  const take = (ids: ReadonlySet<string>): void => onChange(withOnlyRows(whole, ids));
  return (
    <section class="card new-card stack" aria-labelledby="new-lists">
      <div class="spread">
        <h2 id="new-lists">
          <Text>{found.title === '' ? found.kind : found.title}</Text>
        </h2>
        <Badge isPlain>{found.kind}</Badge>
      </div>
      <p class="muted">
        Each list becomes a table.{' '}
        {isTried
          ? 'Each one was asked for, and the configuration has what was proved.'
          : 'What a document says is not tried yet: ask for each list, or try a few of them below.'}
      </p>
      {isTried ? (
        <AttemptTable lists={found.lists} />
      ) : (
        <div class="row">
          <Button onPress={onTry} isDisabled={isBusy}>
            Ask for each list
          </Button>
          <span class="muted">Up to twelve requests each, with the login above.</span>
        </div>
      )}
      {found.variables.length > 0 && (
        <div class="new-pair">
          {found.variables.map((name) => (
            <Input
              key={name}
              label={name}
              type="password"
              hint="The API wants it. It is encrypted before it is kept."
              value={secrets.get(name) ?? ''}
              onInput={(value) => onSecret(name, value)}
            />
          ))}
        </div>
      )}
      <div class="row">
        <Button onPress={() => take(new Set(all))}>Take all {countText(all.length)}</Button>
        <Button onPress={() => take(new Set())}>Take none</Button>
        <span class="muted">{countText(taken.size)} taken</span>
      </div>
      <div class="trial-scroll new-lists" tabIndex={0} role="region" aria-label="Lists">
        <ul>
          {all.map((id) => {
            const lists = found.lists.filter(({ row }) => row === id);
            const [first] = lists;
            return (
              <li key={id}>
                <Checkbox
                  label={
                    <>
                      <span class="mono">
                        <Text>{first?.path ?? id}</Text>
                      </span>{' '}
                      <span class="muted">
                        <Text>
                          {first === undefined
                            ? ''
                            : `rows at ${first.rowsAt || 'the top'}; ${first.nextPage}`}
                        </Text>
                      </span>
                    </>
                  }
                  isChecked={taken.has(id)}
                  onChange={(isTaken) =>
                    take(new Set(all.filter((other) => (other === id ? isTaken : taken.has(other)))))
                  }
                />
                {lists.length > 1 && (
                  <ul class="new-children muted small">
                    {lists.slice(1).map(({ path }) => (
                      <li key={path}>
                        with <Text>{path}</Text>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            );
          })}
        </ul>
      </div>
      {found.notes.length > 0 && (
        <ul class="trial-lines">
          {found.notes.map((note, i) => (
            <li key={i}>
              <Ticked>{note}</Ticked>
            </li>
          ))}
        </ul>
      )}
      {found.skipped.length > 0 && (
        <details>
          <summary>Not taken ({countText(found.skipped.length)})</summary>
          <ul class="trial-lines">
            {found.skipped.map(({ what, why }, i) => (
              <li key={i}>
                <Ticked>{`${what}: ${why}`}</Ticked>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** Shows what came of asking for each list. */
function AttemptTable({ lists }: { readonly lists: FoundDocument['lists'] }) {
  return (
    <div class="trial-scroll" tabIndex={0} role="region" aria-label="What was proved">
      <table class="new-import new-proof">
        <thead>
          <tr>
            <th scope="col">List</th>
            <th scope="col">Verdict</th>
            <th scope="col">Rows</th>
            <th scope="col">Id</th>
            <th scope="col">Next page</th>
          </tr>
        </thead>
        <tbody>
          {lists.map(({ path, attempt, nextPage }) => (
            <tr key={path}>
              <th scope="row" class="mono">
                <Text>{path}</Text>
              </th>
              <td>
                <VerdictBadge verdict={attempt?.verdict ?? 'untried'} />{' '}
                <span class="muted">
                  <Text>{attempt?.why ?? ''}</Text>
                </span>
              </td>
              <td>{attempt === undefined || attempt.pages === 0 ? '' : rowsText(attempt)}</td>
              <td class="mono">
                <Text>{attempt?.id.join(', ') ?? ''}</Text>
              </td>
              <td>
                <Ticked>{attempt?.isProved === true ? nextPage : `not proved: ${nextPage}`}</Ticked>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsText({ rows, total, pages }: NonNullable<FoundDocument['lists'][number]['attempt']>): string {
  const all = total === undefined || total === rows ? '' : ` of ${countText(total)}`;
  return `${countText(rows)}${all} on ${countText(pages)} ${pages === 1 ? 'page' : 'pages'}`;
}
