/**
 * Recognises a command that was made for the command prompt of Windows, and takes its carets away: browsers either
 * put one in front of every special character (`^"…^"`), or only at the ends of lines.
 */
export function windowsDialect(source: string): { readonly text: string; readonly isWindows: boolean } {
  if (/^[^'"]*\^"/.test(source))
    return {
      text: source.replace(/\^(\r?\n|[\s\S])/g, (_, char: string) => char.replace(/^\r?\n$/, '')),
      isWindows: true,
    };
  if (/^[^']*\^[ \t]*\r?\n/.test(source))
    return { text: source.replace(/\^[ \t]*\r?\n/g, ' '), isWindows: true };
  return { text: source, isWindows: false };
}

const PIECE = /[^"\\]+|(\\*)""|(\\*)"|\\+/y;

/**
 * Reads the rest of a text in double quotes as Windows programs read their arguments: a quote in it is `\"` or `""`,
 * backslashes count only in front of a quote.
 *
 * @param from behind the opening quote
 * @returns the text and where it ends; undefined when it never does
 */
export function windowsQuoted(
  source: string,
  from: number,
): { readonly text: string; readonly end: number } | undefined {
  let text = '';
  let at = from;
  while (at < source.length) {
    PIECE.lastIndex = at;
    const [piece = '', beforeTwo, beforeOne] = PIECE.exec(source) ?? [];
    const slashes = (beforeTwo ?? beforeOne ?? '').length;
    const isQuote = beforeTwo !== undefined || beforeOne !== undefined;
    if (!isQuote) {
      text += piece;
      at += piece.length;
    } else if (slashes % 2 === 1) {
      text += `${'\\'.repeat((slashes - 1) / 2)}"`;
      at += slashes + 1;
    } else {
      text += '\\'.repeat(slashes / 2);
      if (beforeTwo === undefined) return { text, end: at + slashes + 1 };
      text += '"';
      at += slashes + 2;
    }
  }
  return undefined;
}
