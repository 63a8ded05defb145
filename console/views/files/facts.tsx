import type { File } from '../../data/client.ts';
import { Badge } from '../../ui/states.tsx';
import { RelativeTime, Text, timeOf } from '../../ui/values.tsx';
import './files.css';

const DAY_MS = 86_400_000;

/** Shows the time at which a file is removed. */
export function Expires({ file: { created, maxAgeDays } }: { readonly file: File }) {
  if (maxAgeDays === null) return <span class="muted">never</span>;
  return <RelativeTime value={new Date(timeOf(created) + maxAgeDays * DAY_MS).toISOString()} />;
}

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <span class="tags">
      {tags.map((tag) => (
        <Badge key={tag} isPlain>
          <Text>{tag}</Text>
        </Badge>
      ))}
    </span>
  );
}

/** Describes further properties of a file: `in slices, encrypted`. */
export function kindText({ isSliced, isEncrypted, isPublic }: File): string {
  const kinds = [isSliced ? 'in slices' : '', isEncrypted ? 'encrypted' : '', isPublic ? 'public' : ''];
  return kinds.filter((kind) => kind !== '').join(', ');
}
