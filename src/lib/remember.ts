/** Texts whose results are kept. They come from outside, so what is kept of them is bounded. */
const MOST = 2000;

/**
 * Returns a function that works out each text once, as far as it is remembered.
 *
 * @param most texts at a time; fewer where a result is large
 */
export function remember<T>(workOut: (text: string) => T, most = MOST): (text: string) => T {
  const known = new Map<string, { readonly result: T }>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = { result: workOut(text) };
      if (known.size >= most) known.clear();
      known.set(text, found);
    }
    return found.result;
  };
}
