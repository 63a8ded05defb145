import { useState } from 'preact/hooks';
import type { Json } from '../../../src/lib/json/value.ts';
import { columnNameProblem } from '../../../src/lib/names.ts';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Badge } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';
import type { Field } from './fields.ts';
import { columnsOf, isMapped, withColumn, withoutMapping } from './plan.ts';

const SHOWN = 50;
/** With fewer nobody looks for one. */
const MANY = 15;

export interface ColumnsFormProps {
  readonly document: Json;
  readonly fields: readonly Field[];
  readonly onChange: (document: Json) => void;
}

/** Edits the columns of the table: the included ones, their names, and the key. */
export function ColumnsForm({ document, fields, onChange }: ColumnsFormProps) {
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const columns = columnsOf(document, fields);
  const found = columns.filter(({ path, name }) =>
    `${path} ${name}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <div class="stack">
      <div class="spread">
        <p class="muted small new-grow">
          {isMapped(document)
            ? 'Only these columns are loaded. What the API adds later is left out.'
            : 'Every field that the API sends becomes a column. Leave some out, rename them or choose a key, and only those that are listed are loaded.'}
        </p>
        {isMapped(document) && (
          <Button kind="plain" onPress={() => onChange(withoutMapping(document))}>
            Take all as they come
          </Button>
        )}
      </div>
      {columns.length > MANY && <SearchField label="Search columns" value={search} onInput={setSearch} />}
      <div class="trial-scroll" tabIndex={0} role="region" aria-label="Columns">
        <table class="new-columns">
          <thead>
            <tr>
              <th scope="col">Take</th>
              <th scope="col">Field</th>
              <th scope="col">Column</th>
              <th scope="col">Key</th>
              <th scope="col">Example</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown).map((column) => {
              const { path, name, isTaken, isKey } = column;
              const field = fields.find((each) => each.path === path);
              const isList = field?.kind === 'list';
              const problem = isTaken ? columnNameProblem(name) : undefined;
              const change = (to: Partial<typeof column>): void =>
                onChange(withColumn(document, fields, path, to));
              return (
                <tr key={path} class={isTaken ? undefined : 'new-left-out'}>
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`Take ${path}`}
                      checked={isTaken}
                      onChange={() => change(isTaken ? { isTaken: false, isKey: false } : { isTaken: true })}
                    />
                  </td>
                  <td>
                    <span class="mono">
                      <Text>{path}</Text>
                    </span>{' '}
                    <Badge isPlain>{KINDS[field?.kind ?? 'empty']}</Badge>
                  </td>
                  <td>
                    <input
                      class="input mono"
                      aria-label={`${isList ? 'Table' : 'Column'} of ${path}`}
                      value={name}
                      disabled={!isTaken}
                      aria-invalid={problem === undefined ? undefined : true}
                      spellcheck={false}
                      autocomplete="off"
                      onInput={(event) => change({ name: event.currentTarget.value })}
                    />
                    {problem !== undefined && <span class="field-problem">The name {problem}.</span>}
                  </td>
                  <td>
                    {!isList && (
                      <input
                        type="checkbox"
                        aria-label={`${path} is a part of the key`}
                        checked={isKey}
                        disabled={!isTaken}
                        onChange={() => change({ isKey: !isKey })}
                      />
                    )}
                  </td>
                  <td class="muted new-example">
                    <Text>{(field?.example ?? '').slice(0, 80)}</Text>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {found.length > shown && (
        <div>
          <Button onPress={() => setShown((before) => before + 200)}>
            Show more of {countText(found.length - shown)}
          </Button>
        </div>
      )}
    </div>
  );
}

const KINDS: Readonly<Record<Field['kind'], string>> = {
  list: 'list, own table',
  mixed: 'mixed',
  number: 'number',
  object: 'object',
  switch: 'yes or no',
  text: 'text',
  empty: 'empty',
};
