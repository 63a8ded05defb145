/** Returns the words of a name in lower case: `nextPageToken`, `next_page_token` and `page[next]` alike. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/\.(?:json|php|aspx?|xml)$/i, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** Joins the words by `_`: names with the same meaning are equal. */
export function plain(name: string): string {
  return wordsOf(name).join('_');
}

export function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/(?:[sxz]|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.replace(/s$/, '');
}
