/** A name in lower-case words joined by `_`: `nextPageToken`, `next-page-token` and `Next_Page_Token` are one. */
export function canonical(name: string): string {
  let known = CANONICAL.get(name);
  if (known === undefined) {
    known = name
      .replace(PREFIX, '')
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/(?<=.)_$|^_(?=.)/g, '')
      .toLowerCase();
    // Names come from outside: what is kept of them is bounded.
    if (CANONICAL.size >= 2000) CANONICAL.clear();
    CANONICAL.set(name, known);
  }
  return known;
}

/** Prefix of a vocabulary: `hydra:totalItems`, `opensearch:totalResults`. */
const PREFIX = /^[A-Za-z][\w-]*:(?=\w)/;

const CANONICAL = new Map<string, string>();
