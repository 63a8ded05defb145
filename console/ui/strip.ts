/** Elements for neighbouring numbers of a long list, in the order of the document. */
export interface Strip<Item extends { readonly element: HTMLElement }> {
  readonly first: number;
  readonly items: readonly Item[];
}

export const emptyStrip = { first: 0, items: [] } as const;

/**
 * Moves on to the `count` numbers from `first` on. What is for a number that stays, stays; what is not needed any more is
 * taken for those that come, so that hardly anything is made or thrown away while one scrolls. Which number an item is
 * for is to be written into it afterwards.
 */
export function moved<Item extends { readonly element: HTMLElement }>(
  parent: HTMLElement,
  strip: Strip<Item>,
  first: number,
  count: number,
  make: () => Item,
): Strip<Item> {
  const items = [...strip.items];
  const by = first - strip.first;
  // Elements that are taken out and put in again are laid out anew: only those that change their place are.
  if (by > 0 && by < items.length) {
    const passed = items.splice(0, by);
    parent.append(...passed.map(({ element }) => element));
    items.push(...passed);
  } else if (by < 0 && -by < items.length) {
    const passed = items.splice(items.length + by);
    parent.prepend(...passed.map(({ element }) => element));
    items.unshift(...passed);
  }
  for (const { element } of items.splice(count)) element.remove();
  while (items.length < count) {
    const item = make();
    parent.append(item.element);
    items.push(item);
  }
  return { first, items };
}
