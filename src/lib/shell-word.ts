/** A path or a name as it is written in a command line that is to be pasted into a shell. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_./:@%+=,\\-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
