import { useEffect, useState } from 'preact/hooks';

/** Returns a typed value once nothing was typed for a moment. */
export function useDebounced<T>(value: T, afterMs = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
