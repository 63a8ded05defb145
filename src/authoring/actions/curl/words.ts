import { ActionError } from '../../../lib/errors.ts';
import { ansiText, closingQuote } from './ansi-quote.ts';
import { windowsDialect, windowsQuoted } from './windows.ts';

/** A command line, taken apart as a shell would. */
export interface CommandLine {
  readonly words: readonly string[];
  /** Text behind a pipe, a redirection, `;` or `&`; empty when there is none. */
  readonly rest: string;
  /** Names of the shell variables in it, whose values nobody knows here; they stand in the words as written. */
  readonly variables: readonly string[];
}

const SPACE = /(?:[ \t\r]|\\[ \t]*\r?\n|`\r?\n)+/y;
const COMMENT = /#[^\n]*/y;
const OPERATOR = /\d*[<>]|\||[;&](?=[;&\s]|$)|[()](?=\s|$)/y;
const VARIABLE = /\$(?:\{(\w+)(?!\w)[^}]*\}|([A-Za-z_]\w*))/y;

/**
 * Splits one command into its words by the rules of POSIX shells and bash: quotes of all four kinds, backslashes,
 * continued lines, comments. It also understands commands made for Windows (`^` at line ends or in front of quotes).
 *
 * Frequent mistakes of a paste are tolerated: blanks behind the backslash of a continued line, an `&` in an address
 * without quotes, an option on a new line without a backslash.
 *
 * @throws {ActionError} for a quote that is not closed, and for a command inside the command
 */
export function splitWords(source: string): CommandLine {
  const { text, isWindows } = windowsDialect(source);
  const words: string[] = [];
  const variables = new Set<string>();
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  const noteVariable = (): void => {
    VARIABLE.lastIndex = at;
    const name = VARIABLE.exec(text);
    if (name !== null) variables.add(name[1] ?? name[2] ?? '');
  };

  const word = (): string => {
    let out = '';
    while (at < text.length) {
      const char = text[at] ?? '';
      const next = text[at + 1] ?? '';
      OPERATOR.lastIndex = at;
      if (/\s/.test(char) || (!/[\d()]/.test(char) && OPERATOR.test(text))) break;
      if (char === '\\' && !isWindows) {
        const joined = /\\[ \t]*\r?\n/y;
        joined.lastIndex = at;
        if (next !== '\n' && joined.test(text)) break;
        if (next !== '\n') out += next;
        at += 2;
      } else if (char === '"' || (char === '$' && next === '"')) {
        at += char === '"' ? 1 : 2;
        out += isWindows ? windowsPart() : doubleQuoted();
      } else if (char === "'" && !isWindows) {
        const end = closing(text.indexOf("'", at + 1));
        out += text.slice(at + 1, end);
        at = end + 1;
      } else if (char === '$' && next === "'" && !isWindows) {
        const end = closing(closingQuote(text, at + 2));
        out += ansiText(text.slice(at + 2, end));
        at = end + 1;
      } else {
        if (!isWindows) checkExpansion(char, next);
        out += char;
        at++;
      }
    }
    return out;
  };

  const doubleQuoted = (): string => {
    let out = '';
    for (const start = at; ;) {
      const char = text[at];
      const next = text[at + 1] ?? '';
      if (char === undefined) throw unclosed('"', text, start - 1);
      if (char === '"') {
        at++;
        return out;
      }
      if (char === '\\' && /["\\$`\n]/.test(next)) {
        if (next !== '\n') out += next;
        at += 2;
      } else {
        checkExpansion(char, next);
        out += char;
        at++;
      }
    }
  };

  const windowsPart = (): string => {
    const part = windowsQuoted(text, at);
    if (part === undefined) throw unclosed('"', text, at - 1);
    at = part.end;
    return part.text;
  };

  const checkExpansion = (char: string, next: string): void => {
    if (char === '`' || (char === '$' && next === '(')) throw substitution();
    if (char === '$') noteVariable();
  };

  const closing = (end: number): number => {
    if (end < 0) throw unclosed("'", text, at);
    return end;
  };

  while (at < text.length) {
    if (match(SPACE) !== null || match(COMMENT) !== null) continue;
    if (text[at] === '\n') {
      at++;
      if (words.length === 0 || /^\s*(?:-|$)/.test(text.slice(at))) continue;
      break;
    }
    OPERATOR.lastIndex = at;
    if (OPERATOR.test(text)) break;
    words.push(word());
  }
  return { words, rest: text.slice(at).trim(), variables: [...variables] };
}

function unclosed(quote: string, text: string, at: number): ActionError {
  const line = text.slice(0, at).split('\n').length;
  return new ActionError('action.invalid', `A ${quote} in line ${line} of the command is never closed.`, {
    hint: 'Copy the whole command, to its last quote.',
  });
}

function substitution(): ActionError {
  return new ActionError('action.invalid', 'The command has another command inside: $(…) or `…`.', {
    hint: 'Put in its place what it gives.',
  });
}
