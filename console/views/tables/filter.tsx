import { useId, useState } from 'preact/hooks';
import type { WhereFilter } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, Select, TextArea } from '../../ui/field.tsx';

const OPERATORS = [
  { value: 'eq', text: 'is' },
  { value: 'ne', text: 'is not' },
  { value: 'gt', text: 'is greater than' },
  { value: 'ge', text: 'is at least' },
  { value: 'lt', text: 'is less than' },
  { value: 'le', text: 'is at most' },
] as const;

type Operator = (typeof OPERATORS)[number]['value'];

const takesSeveral = (operator: Operator): boolean => operator === 'eq' || operator === 'ne';

export function filterText({ column, operator = 'eq', values, dataType }: WhereFilter): string {
  const word = OPERATORS.find(({ value }) => value === operator)?.text ?? operator;
  const shown = values.map((value) =>
    value === '' ? 'empty' : value.length > 60 ? `${value.slice(0, 60)}…` : value,
  );
  return `${column} ${word} ${shown.slice(0, 3).join(' or ')}${values.length > 3 ? ' …' : ''}${dataType === undefined ? '' : ' (number)'}`;
}

export function FilterForm({
  columns,
  onAdd,
  onClose,
}: {
  readonly columns: readonly string[];
  readonly onAdd: (filter: WhereFilter) => void;
  readonly onClose: () => void;
}) {
  const id = useId();
  const [column, setColumn] = useState('');
  const [operator, setOperator] = useState<Operator>('eq');
  const [text, setText] = useState('');
  const [isNumber, setNumber] = useState(false);
  const isSet = takesSeveral(operator);
  const isKnown = columns.includes(column);
  const wanted = column.toLowerCase();
  return (
    <Dialog title="Filter the rows" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const values = isSet ? text.split('\n') : [text];
          if (isKnown) onAdd({ column, operator, values, dataType: isNumber ? 'DOUBLE' : undefined });
        }}
      >
        <div class="field">
          <label class="field-label" for={id}>
            Column
          </label>
          <input
            id={id}
            class="input mono"
            list={`${id}-list`}
            value={column}
            autoFocus
            autocomplete="off"
            spellcheck={false}
            required
            onInput={(event) => setColumn(event.currentTarget.value)}
          />
          <datalist id={`${id}-list`}>
            {columns
              .filter((name) => name.toLowerCase().includes(wanted))
              .slice(0, 200)
              .map((name) => (
                <option key={name} value={name} />
              ))}
          </datalist>
          {column !== '' && !isKnown && (
            <span class="field-hint">No column has this name yet: go on typing.</span>
          )}
        </div>
        <Select
          label="Condition"
          value={operator}
          options={OPERATORS}
          onChange={(next) => {
            setOperator(next);
            if (!takesSeveral(next)) setText(text.split('\n')[0] ?? '');
          }}
        />
        {isSet ? (
          <TextArea
            label="Value"
            hint="Several: one on each line. Nothing means an empty value."
            rows={2}
            value={text}
            onInput={setText}
            isMono
          />
        ) : (
          <Input label="Value" value={text} onInput={setText} isMono isRequired />
        )}
        <Checkbox label="Compare as numbers" isChecked={isNumber} onChange={setNumber} />
        <div class="row">
          <Button kind="primary" type="submit" isDisabled={!isKnown}>
            Add the filter
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
