/** Quotes a path or a name for a command line that is to be pasted into a shell. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_./:@%+=,\\-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
