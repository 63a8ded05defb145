import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorBanner, Skeleton } from '../../ui/states.tsx';
import type { TryTab } from './try-tab.tsx';

/** Loads what shows a trial at its first use. */
export function LazyTryTab(props: ComponentProps<typeof TryTab>) {
  const [part, setPart] = useState<{ readonly Tab: typeof TryTab } | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('./try-tab.tsx').then(({ TryTab: Tab }) => setPart({ Tab }), setError);
  }, []);
  if (error !== undefined) return <ErrorBanner error={error} />;
  if (part === undefined) return <Skeleton />;
  return <part.Tab {...props} />;
}
