/**
 * Makes one line to show of a text from outside (an API, a server, a file): in a message, a log, a progress line.
 *
 * Active characters are escaped, as in JSON: line breaks and tabs (`\n`, `\t`), all other control characters, with
 * which escape sequences of terminals begin (`\u001b`), and the characters that reverse the direction of text
 * (`\u202e`). Without this, an API could clear the screen, or write a line of the log.
 */
export function shownText(text: string): string {
  return text.replace(ACTING, escaped);
}

/** Escapes a text of several lines that we wrote ourselves: line breaks and tabs stay. */
export function shownLines(text: string): string {
  return text.replace(ACTING, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** Makes one line of a message: its lines follow one another. */
export function oneLine(text: string): string {
  return shownText(linesOf(text).join(' '));
}

function linesOf(text: string): string[] {
  const lines = text.split(/[\r\n]+/);
  const last = lines.length - 1;
  return lines
    .map((line, i) => {
      const begun = i === 0 ? line : line.trimStart();
      return i === last ? begun : begun.trimEnd();
    })
    .filter((line, i) => line !== '' || i === 0 || i === last);
}

// Controls; line and paragraph separators; marks, embeddings, overrides and isolates of the bidirectional algorithm.
const ACTING = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(char: string): string {
  return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
