/** Returns a test for texts that have all words of a search, in any case and order. */
export function hasWords(search = ''): (text: string) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}
