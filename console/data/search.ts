/** Returns a function that tells whether a text has all words of a search in it, in whatever case and order. */
export function matcher(search: string): (text: string) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return (text) => {
    const whole = text.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
}
