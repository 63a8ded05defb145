import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TextDiff } from '../../ui/text-diff.tsx';
import { ErrorBanner, Skeleton } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';
import { pathOf, wordsFor, type Difference } from './difference.ts';

const SHOWN = 200;
const VERBS = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const;

/** Lists differences, place by place, in words. */
export function DifferenceList({
  label,
  all,
}: {
  readonly label: string;
  readonly all: readonly Difference[];
}) {
  if (all.length === 0) return <p class="muted">{label}: nothing is different.</p>;
  return (
    <ul class="differences" aria-label={label}>
      {all.slice(0, SHOWN).map((each) => (
        <li key={each.keys.join('\n')}>
          <span class={`difference difference-${each.kind}`}>{VERBS[each.kind]}</span>{' '}
          <span class="mono">
            <Text>{pathOf(each)}</Text>
          </span>
          : <Text>{sentence(each)}</Text>
        </li>
      ))}
      {all.length > SHOWN && <li class="muted">and {all.length - SHOWN} more</li>}
    </ul>
  );
}

function sentence({ kind, before, after, keys }: Difference): string {
  if (kind === 'added') return wordsFor(after, keys);
  if (kind === 'removed') return wordsFor(before, keys);
  const [from, to] = [wordsFor(before, keys), wordsFor(after, keys)];
  return from === to ? `another ${to.replace(/^an? /, '')}` : `${from} → ${to}`;
}

/** Compares both texts side by side; loaded at its first use. */
export function SideBySide(props: ComponentProps<typeof TextDiff>) {
  const [part, setPart] = useState<{ readonly Diff: typeof TextDiff } | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('../../ui/text-diff.tsx').then(({ TextDiff: Diff }) => setPart({ Diff }), setError);
  }, []);
  if (error !== undefined) return <ErrorBanner error={error} />;
  if (part === undefined) return <Skeleton label="Loading the comparison" />;
  return <part.Diff {...props} />;
}
