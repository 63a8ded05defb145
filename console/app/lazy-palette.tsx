import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { toast } from '../ui/toast.tsx';

interface Props {
  readonly onClose: () => void;
}

let loaded: FunctionComponent<Props> | undefined;

/** Loads the palette at its first use. */
export function LazyPalette({ onClose }: Props) {
  const [Found, setFound] = useState(() => loaded);
  useEffect(() => {
    if (loaded !== undefined) return;
    import('./palette.tsx').then(
      (module) => {
        loaded = module.default;
        setFound(() => loaded);
      },
      () => {
        toast('The service is away, or is newer than this page: load the page again.', 'bad');
        onClose();
      },
    );
  }, [onClose]);
  return Found === undefined ? null : <Found onClose={onClose} />;
}
