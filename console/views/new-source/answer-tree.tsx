import { useState } from 'preact/hooks';
import { entriesOf, isList, isObject, sizeOf, type Json } from '../../../src/lib/json/value.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Badge } from '../../ui/states.tsx';
import { countText, Text } from '../../ui/values.tsx';
import { scalarText } from '../../ui/trial/json-tree.tsx';

export interface TreeProps {
  readonly answer: Json;
  /** How many items the lists have of which the answer shows the first ones, by their paths. */
  readonly lengths: Readonly<Record<string, number>>;
  /** Path of the rows. */
  readonly rows: string;
  readonly onRows: (path: string) => void;
  /** Roles of the fields of the rows. */
  readonly marks: ReadonlyMap<string, readonly ('id' | 'time')[]>;
  readonly onMark: (path: string, mark: 'id' | 'time') => void;
}

interface NodeProps extends TreeProps {
  readonly name: string;
  readonly value: Json;
  readonly keys: readonly string[];
  /** Path within the first of the rows. */
  readonly field?: string | undefined;
}

const SHOWN_KEYS = 100;
const SHOWN_ITEMS = 3;
const LONGEST = 120;

/**
 * Shows the answer as it came, with controls to choose another list as the rows, and fields of the first row as the id
 * and the time.
 */
export function AnswerTree(props: TreeProps) {
  return (
    <ul class="tree" aria-label="The answer">
      <Node {...props} name="answer" value={props.answer} keys={[]} />
    </ul>
  );
}

function Node(props: NodeProps) {
  const { value, keys, rows, field } = props;
  const isRows = keys.join('.') === rows && field === undefined;
  const [isOpen, setOpen] = useState(
    keys.length < 2 || rows.startsWith(keys.join('.')) || field !== undefined,
  );
  const isInner = isList(value) || isObject(value);
  return (
    <li>
      <div class={isRows ? 'tree-line tree-rows' : 'tree-line'}>
        {isInner ? (
          <button
            type="button"
            class="tree-name"
            aria-expanded={isOpen}
            onClick={() => setOpen((before) => !before)}
          >
            <Icon name={isOpen ? 'down' : 'right'} size={12} />
            <Text>{props.name}</Text>
          </button>
        ) : (
          <span class="tree-name tree-leaf">
            <Text>{props.name}</Text>
          </span>
        )}
        <span class="tree-value muted">{shownOf(value, props.lengths[keys.join('.')])}</span>
        <Marks {...props} isRows={isRows} />
      </div>
      {isInner && isOpen && <Inner {...props} isRows={isRows} />}
    </li>
  );
}

function Inner(props: NodeProps & { readonly isRows: boolean }) {
  const { value, keys, field, isRows } = props;
  const [shown, setShown] = useState(isList(value) ? SHOWN_ITEMS : SHOWN_KEYS);
  const all: readonly (readonly [string, Json])[] = isList(value)
    ? value.map((item, i) => [String(i + 1), item])
    : isObject(value)
      ? entriesOf(value)
      : [];
  return (
    <ul>
      {all.slice(0, shown).map(([name, inner], i) => (
        <Node
          {...props}
          key={name}
          name={isList(value) && isRows ? `row ${name}` : name}
          value={inner}
          keys={[...keys, isList(value) ? String(i) : name]}
          field={
            isRows && isList(value)
              ? i === 0
                ? ''
                : undefined
              : field === undefined || isList(value)
                ? isRows
                  ? name
                  : undefined
                : field === ''
                  ? name
                  : `${field}.${name}`
          }
        />
      ))}
      {all.length > shown && (
        <li>
          <Button kind="plain" onPress={() => setShown((before) => before + SHOWN_KEYS)}>
            {countText(all.length - shown)} more
          </Button>
        </li>
      )}
    </ul>
  );
}

function Marks(props: NodeProps & { readonly isRows: boolean }) {
  const { value, keys, field, isRows, rows, marks, onMark, onRows } = props;
  if (isRows) return <Badge tone="active">the rows</Badge>;
  // Lists within the rows belong to them.
  const isInRows = keys.join('.').startsWith(rows === '' ? '0' : `${rows}.`);
  if (isList(value) && !isInRows)
    return (
      <button type="button" class="tree-take" onClick={() => onRows(keys.join('.'))}>
        Take these rows
      </button>
    );
  if (field === undefined || field === '' || isList(value) || isObject(value)) return null;
  const own = marks.get(field) ?? [];
  return (
    <span class="tree-marks">
      {(['id', 'time'] as const).map((mark) => (
        <button
          key={mark}
          type="button"
          class="tree-mark"
          aria-pressed={own.includes(mark)}
          aria-label={`${mark}: ${field}`}
          title={mark === 'id' ? 'Tells the rows apart: the primary key' : 'When a row has changed'}
          onClick={() => onMark(field, mark)}
        >
          {mark}
        </button>
      ))}
    </span>
  );
}

function shownOf(value: Json, length: number | undefined) {
  if (isList(value) && length !== undefined)
    return `${countText(length)} items, the first ${countText(value.length)} shown`;
  if (isList(value)) return `${countText(value.length)} ${value.length === 1 ? 'item' : 'items'}`;
  if (isObject(value)) return `${countText(sizeOf(value))} ${sizeOf(value) === 1 ? 'key' : 'keys'}`;
  const text = scalarText(value);
  return <Text>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</Text>;
}
