import { setQuery, usePlace } from '../route/router.ts';
import { Button } from './button.tsx';
import { countText } from './values.tsx';

/** Reads the number of items before the part of a list that the address has. */
export function useOffset(): number {
  return Math.max(0, Math.floor(Number(usePlace().query.get('offset'))) || 0);
}

/** Steps through a list that the service gives in parts; the address holds the part. */
export function Pager({
  size,
  shown,
  noun,
  total,
  words = total === undefined ? ['Newer', 'Older'] : ['Back', 'Next'],
}: {
  /** How many a part has. */
  readonly size: number;
  /** How many this part has. */
  readonly shown: number;
  /** Noun for the items: `jobs`. */
  readonly noun: string;
  /** How many the list has; without it, a part with fewer than `size` is the last. */
  readonly total?: number;
  /** Names of the steps back and on. */
  readonly words?: readonly [back: string, on: string];
}) {
  const offset = useOffset();
  const isLast = total === undefined ? shown < size : offset + shown >= total;
  if (offset === 0 && isLast) return null;
  const range =
    shown === 0
      ? 'No more'
      : `${countText(offset + 1)} to ${countText(offset + shown)} of ${total === undefined ? 'the' : countText(total)}`;
  return (
    <nav class="spread" aria-label={`Parts of the ${noun}`}>
      <span class="muted small number">
        {range} {noun}
      </span>
      <span class="row">
        <Button isDisabled={offset === 0} onPress={() => go(offset - size)}>
          {words[0]}
        </Button>
        <Button isDisabled={isLast} onPress={() => go(offset + size)}>
          {words[1]}
        </Button>
      </span>
    </nav>
  );
}

function go(to: number): void {
  setQuery({ offset: to > 0 ? String(to) : undefined });
}
