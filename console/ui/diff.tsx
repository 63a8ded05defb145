import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorBanner } from './states.tsx';
import './code-editor.css';

export interface DiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** The difference of two texts, which is loaded when it is first shown. What is the same is folded. */
export function Diff({ label, before, after }: DiffProps) {
  const place = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isGone = false;
    import('./editor.ts').then(({ createDiff }) => {
      if (!isGone && place.current !== null) remove = createDiff(place.current, label, before, after);
    }, setError);
    return () => {
      isGone = true;
      remove?.();
    };
  }, [label, before, after]);
  return (
    <div class="code-editor card">
      {error !== undefined && <ErrorBanner error={error} />}
      <div ref={place} />
    </div>
  );
}
