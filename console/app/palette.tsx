import { useId, useState } from 'preact/hooks';
import { client } from '../data/client.ts';
import { useQuery } from '../data/query.ts';
import { currentSession, maySee, mayUse } from '../data/session.ts';
import { NEW_SOURCES } from '../data/sources.ts';
import { at, navigate } from '../route/router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Text } from '../ui/values.tsx';
import { toggleTheme } from './theme.ts';
import { VIEWS } from './views.ts';
import './palette.css';

interface Item {
  readonly key: string;
  readonly text: string;
  readonly about: string;
  readonly icon: IconName;
  readonly act: () => void;
}

/** So many are seen at once; more letters find the others. */
const MOST = 40;

const goTo = (path: string) => (): void => navigate(path);

const ownItems = (): readonly Item[] => [
  ...VIEWS.filter(({ name }) => name !== 'new-source' || mayUse(NEW_SOURCES)).map(
    ({ name, place, title, icon }) => ({
      key: `view ${name}`,
      text: title,
      about: 'Go to',
      icon,
      act: goTo(`/${place}`),
    }),
  ),
  { key: 'theme', text: 'Toggle dark', about: 'Do', icon: 'moon', act: toggleTheme },
];

/** Goes anywhere, or does something, by a few letters of its name. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useFound(text);
  const active = Math.min(chosen, found.length - 1);

  function take(item: Item | undefined): void {
    if (item === undefined) return;
    onClose();
    item.act();
  }

  function move(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') take(found[active]);
    if (step === 0 || found.length === 0) return;
    event.preventDefault();
    const next = (active + step + found.length) % found.length;
    setChosen(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-label="Table, source, run or action"
        placeholder="Table, source, run or action"
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${active}`}
        autoFocus
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={move}
      />
      <div id={`${id}-list`} class="palette" role="listbox" aria-label="Found">
        {found.map((item, index) => (
          <div
            key={item.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => take(item)}
          >
            <Icon name={item.icon} size={16} />
            <span class="palette-text">
              <Text>{item.text}</Text>
            </span>
            <span class="muted small">{item.about}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p class="muted" role="status">
          Nothing is called so.
        </p>
      )}
    </Dialog>
  );
}

/** Returns the items that contain all words of the text; without a text, the views and the last runs. */
function useFound(text: string): readonly Item[] {
  const { runs: hasRuns } = currentSession();
  const tables = useQuery({
    key: ['tables', 'names'],
    load: async () => (await client().tables.list({ include: [] })).map(({ id }) => id),
    isAnew: true,
  });
  const sources = useQuery({
    key: ['sources', 'palette'],
    load: loadSources,
    isEnabled: maySee(),
    isAnew: true,
  });
  const runs = useQuery({
    key: ['runs', 'palette'],
    load: async () => await client().runs.list({ limit: 50 }),
    isEnabled: hasRuns && maySee(),
    isAnew: true,
  });
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all: readonly Item[] = [
    ...ownItems(),
    ...(sources.data ?? []),
    ...(tables.data ?? []).map((id) => ({
      key: `table ${id}`,
      text: id,
      about: 'Table',
      icon: 'table' as const,
      act: goTo(at`/tables/${id}`),
    })),
    ...(runs.data ?? []).map(({ id, configuration, status }) => ({
      key: `run ${id}`,
      text: `Run ${id} of ${configuration}`,
      about: status,
      icon: 'run' as const,
      act: goTo(at`/runs/${id}`),
    })),
  ];
  const isMeant = (item: Item): boolean => {
    const whole = `${item.text} ${item.about}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
  return all.filter(isMeant).slice(0, MOST);
}

async function loadSources(): Promise<Item[]> {
  return (await client().configurationNames()).flatMap(({ component, componentName, configurations }) =>
    configurations.map(({ configuration, name }) => ({
      key: `source ${component} ${configuration}`,
      text: name,
      about: componentName,
      icon: 'source' as const,
      act: goTo(at`/sources/${component}/${configuration}`),
    })),
  );
}
