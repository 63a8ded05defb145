import { useMemo } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import type { FoundDocument } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Input } from '../../ui/field.tsx';
import { Badge } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';
import { Ticked } from '../../ui/trial/ticked.tsx';
import { rowIdsOf, withOnlyRows } from './plan.ts';

export interface FoundDocumentViewProps {
  readonly found: FoundDocument;
  readonly document: Json;
  readonly secrets: ReadonlyMap<string, string>;
  readonly onSecret: (name: string, value: string) => void;
  readonly onChange: (document: Json) => void;
}

/** Shows the lists of a document, with the choice of those to include. */
export function FoundDocumentView(props: FoundDocumentViewProps) {
  const { found, document, secrets, onSecret, onChange } = props;
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
        Each list becomes a table. What a document says is not tried yet: try it below, with a few lists at
        first.
      </p>
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
