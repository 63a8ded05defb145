import { useEffect, useState } from 'preact/hooks';

/** As in the style sheets: what is less wide is a telephone, most often. */
const NARROW = '(width < 640px)';

/** Tells whether the page is narrow, and renders again when that changes. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => window.matchMedia(NARROW).matches);
  useEffect(() => {
    const query = window.matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    follow();
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return isNarrow;
}
