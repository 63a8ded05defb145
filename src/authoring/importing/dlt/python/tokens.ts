import { RunError } from '../../../../lib/errors.ts';

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'op' | 'line' | 'end';
  /** As it stands in the file. */
  readonly text: string;
  /** Offset of its first sign, and of the one behind it. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
  /** Brackets that are open here. */
  readonly depth: number;
  /** Of a string: its prefix in lower case, and what stands between the quotes. */
  readonly prefix?: string;
  readonly body?: string;
}

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][+-]?\d+)?)[jJ]?/y;
const STRING = /([rRbBuUfF]{0,2})("""|'''|"|')/y;
const OP = /\*\*=|\/\/=|>>=|<<=|\.\.\.|->|:=|[-+*/%&|^@=<>!]=|\*\*|\/\/|<<|>>|[-+*/%&|^~@=<>.,:;()[\]{}]/y;
const SPACE = /(?:[ \t\f\r]|\\\r?\n)+/y;

/**
 * The tokens of a Python file: enough to find and read literals, nothing is run.
 *
 * @throws {RunError} `import.invalid` for a text that does not end, or a sign that is none of Python
 */
export function tokensOf(source: string, file: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = source.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let depth = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const push = (kind: Token['kind'], end: number, more: Partial<Token> = {}): void => {
    const text = source.slice(at, end);
    tokens.push({ kind, text, start: at, end, line, depth, ...more });
    line += text.split('\n').length - 1;
    at = end;
  };
  while (at < source.length) {
    const space = match(SPACE);
    if (space !== null) {
      line += space[0].split('\n').length - 1;
      at += space[0].length;
      continue;
    }
    const sign = source.charAt(at);
    if (sign === '#') {
      const end = source.indexOf('\n', at);
      at = end === -1 ? source.length : end;
      continue;
    }
    if (sign === '\n') {
      if (depth === 0) push('line', at + 1);
      else {
        at++;
        line++;
      }
      continue;
    }
    const quote = match(STRING);
    if (quote !== null) {
      const [whole, prefix = '', quotes = ''] = quote;
      const from = at + whole.length;
      const end = endOfString(source, from, quotes);
      if (end === undefined) throw invalid(file, line, 'A text begins here and does not end.');
      push('string', end + quotes.length, { prefix: prefix.toLowerCase(), body: source.slice(from, end) });
      continue;
    }
    const name = match(NAME);
    if (name !== null) {
      push('name', at + name[0].length);
      continue;
    }
    const number = /[\d.]/.test(sign) && /^\.?\d/.test(source.slice(at, at + 2)) ? match(NUMBER) : null;
    if (number !== null) {
      push('number', at + number[0].length);
      continue;
    }
    const op = match(OP);
    if (op === null) throw invalid(file, line, `“${sign}” is no sign of Python.`);
    if (/[)\]}]/.test(op[0])) depth = Math.max(0, depth - 1);
    push('op', at + op[0].length, { depth });
    if (/[([{]/.test(op[0])) depth++;
  }
  tokens.push({ kind: 'end', text: '', start: at, end: at, line, depth: 0 });
  return tokens;
}

function endOfString(source: string, from: number, quotes: string): number | undefined {
  for (let at = from; at < source.length; at++) {
    const sign = source.charAt(at);
    if (sign === '\\') at++;
    else if (sign === '\n' && quotes.length === 1) return undefined;
    else if (source.startsWith(quotes, at)) return at;
  }
  return undefined;
}

function invalid(file: string, line: number, message: string): RunError {
  return new RunError('import.invalid', message, {
    where: { file, line, column: 1 },
    hint: 'Is it a file of Python 3? A source may be given as JSON, too.',
  });
}
