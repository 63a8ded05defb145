import { useEffect, useState } from 'preact/hooks';

/** Renders the component every second, for a duration that grows. */
export function useTick(isOn: boolean): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => setCount((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [isOn]);
}
