import { Button } from './button.tsx';
import { countText } from './values.tsx';

/** Steps through a list that the service gives in parts and does not count. */
export function Pager({
  offset,
  size,
  shown,
  onMove,
  noun,
  words = ['Newer', 'Older'],
}: {
  readonly offset: number;
  /** How many a part has. */
  readonly size: number;
  /** How many this part has: fewer than `size` is the last. */
  readonly shown: number;
  readonly onMove: (offset: number) => void;
  /** Noun for the items: `jobs`. */
  readonly noun: string;
  /** Names of the steps back and on. */
  readonly words?: readonly [back: string, on: string];
}) {
  if (offset === 0 && shown < size) return null;
  const range = shown === 0 ? 'No more' : `${countText(offset + 1)} to ${countText(offset + shown)} of the`;
  return (
    <nav class="spread" aria-label={`Parts of the ${noun}`}>
      <span class="muted small number">
        {range} {noun}
      </span>
      <span class="row">
        <Button isDisabled={offset === 0} onPress={() => onMove(Math.max(0, offset - size))}>
          {words[0]}
        </Button>
        <Button isDisabled={shown < size} onPress={() => onMove(offset + size)}>
          {words[1]}
        </Button>
      </span>
    </nav>
  );
}
