import { useEffect, useState } from 'preact/hooks';

/** Rendered again every second, for what counts on by itself. */
export function useTick(isOn: boolean): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setCount((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [isOn]);
}
