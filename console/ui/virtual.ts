import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useState } from 'preact/hooks';

type Options = Pick<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  'count' | 'estimateSize' | 'getScrollElement' | 'horizontal' | 'overscan' | 'scrollPaddingStart'
>;

/** Returns the visible ones of many items: only these are rendered. */
export function useVirtual(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, setCount] = useState(0);
  const whole: VirtualizerOptions<HTMLElement, HTMLElement> = {
    ...options,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => setCount((count) => count + 1),
  };
  const [virtual] = useState(() => new Virtualizer(whole));
  virtual.setOptions(whole);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
