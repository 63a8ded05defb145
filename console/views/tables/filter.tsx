import { useId, useState } from 'preact/hooks';
import type { WhereFilter } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, Select, TextArea } from '../../ui/field.tsx';

const OPERATORS = [
  { value: 'eq', text: 'is' },
  { value: 'ne', text: 'is not' },
  { value: 'contains', text: 'contains' },
  { value: 'empty', text: 'is empty' },
  { value: 'filled', text: 'is not empty' },
  { value: 'between', text: 'is between' },
  { value: 'gt', text: 'is greater than' },
  { value: 'ge', text: 'is at least' },
  { value: 'lt', text: 'is less than' },
  { value: 'le', text: 'is at most' },
] as const;

type Operator = (typeof OPERATORS)[number]['value'];

const takesSeveral = (operator: Operator): boolean => /^(?:eq|ne|contains)$/.test(operator);
const takesNone = (operator: Operator): boolean => operator === 'empty' || operator === 'filled';

/** Returns the filters that a condition of the form means. */
function filtersOf(
  operator: Operator,
  {
    column,
    values,
    to,
    isNumber,
  }: {
    readonly column: string;
    readonly values: readonly string[];
    readonly to: string;
    readonly isNumber: boolean;
  },
): WhereFilter[] {
  const dataType = isNumber ? ('DOUBLE' as const) : undefined;
  if (operator === 'empty') return [{ column, operator: 'eq', values: [''] }];
  if (operator === 'filled') return [{ column, operator: 'ne', values: [''] }];
  if (operator === 'contains') return [{ column, operator, values }];
  if (operator !== 'between') return [{ column, operator, values, dataType }];
  return [
    { column, operator: 'ge', values, dataType },
    { column, operator: 'le', values: [to], dataType },
  ];
}

export function filterText({ column, operator = 'eq', values, dataType }: WhereFilter): string {
  const isOnlyEmpty = values.length === 1 && values[0] === '';
  if (isOnlyEmpty && operator === 'eq') return `${column} is empty`;
  if (isOnlyEmpty && operator === 'ne') return `${column} is not empty`;
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
  readonly onAdd: (filters: readonly WhereFilter[]) => void;
  readonly onClose: () => void;
}) {
  const id = useId();
  const [column, setColumn] = useState('');
  const [operator, setOperator] = useState<Operator>('eq');
  const [text, setText] = useState('');
  const [to, setTo] = useState('');
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
          if (isKnown) onAdd(filtersOf(operator, { column, values, to, isNumber }));
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
        {takesNone(operator) ? null : isSet ? (
          <TextArea
            label="Value"
            hint={
              operator === 'contains'
                ? 'In capital or small letters. Several: one on each line.'
                : 'Several: one on each line. Nothing means an empty value.'
            }
            rows={2}
            value={text}
            onInput={setText}
            isMono
          />
        ) : (
          <Input
            label={operator === 'between' ? 'From' : 'Value'}
            value={text}
            onInput={setText}
            isMono
            isRequired
          />
        )}
        {operator === 'between' && (
          <Input label="To, included" value={to} onInput={setTo} isMono isRequired />
        )}
        {!takesNone(operator) && operator !== 'contains' && (
          <Checkbox label="Compare as numbers" isChecked={isNumber} onChange={setNumber} />
        )}
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
