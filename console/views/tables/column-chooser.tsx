import { useState } from 'preact/hooks';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, SearchField } from '../../ui/field.tsx';
import { countText, Text } from '../../ui/values.tsx';

/** More are found by their names. */
const MOST_LISTED = 100;

/** Chooses the visible columns and their order. */
export function ColumnChooser({
  all,
  chosen,
  onChange,
  onClose,
}: {
  readonly all: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (columns: readonly string[]) => void;
  readonly onClose: () => void;
}) {
  const [search, setSearch] = useState('');
  const isIn = new Set(chosen);
  const ordered = [...chosen, ...all.filter((name) => !isIn.has(name))];
  const found = ordered.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  const move = (name: string, by: -1 | 1): void => {
    const at = chosen.indexOf(name);
    const rest = chosen.filter((each) => each !== name);
    onChange([...rest.slice(0, at + by), name, ...rest.slice(at + by)]);
  };
  return (
    <Dialog title="Columns" onClose={onClose} form="side">
      <SearchField label="Search columns" value={search} onInput={setSearch} />
      <div class="row">
        <Button onPress={() => onChange(all)}>Show all in their order</Button>
        <Button onPress={() => onChange(search === '' ? [] : found)}>
          {search === '' ? 'Hide all' : 'Show only these'}
        </Button>
      </div>
      <ul class="tables-chooser">
        {found.slice(0, MOST_LISTED).map((name) => (
          <li key={name}>
            <Checkbox
              label={<Text>{name}</Text>}
              isChecked={isIn.has(name)}
              onChange={(isShown) =>
                onChange(isShown ? [...chosen, name] : chosen.filter((each) => each !== name))
              }
            />
            {isIn.has(name) && (
              <span>
                <IconButton
                  icon="up"
                  label={`Move ${name} to the front`}
                  isDisabled={chosen[0] === name}
                  onPress={() => move(name, -1)}
                />
                <IconButton
                  icon="down"
                  label={`Move ${name} to the back`}
                  isDisabled={chosen.at(-1) === name}
                  onPress={() => move(name, 1)}
                />
              </span>
            )}
          </li>
        ))}
      </ul>
      {found.length > MOST_LISTED && (
        <p class="muted small">{countText(found.length - MOST_LISTED)} more: search for them.</p>
      )}
    </Dialog>
  );
}
