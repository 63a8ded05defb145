import { TemplateError } from './ast.ts';

export interface JinjaToken {
  readonly kind: 'name' | 'number' | 'text' | 'sign';
  readonly text: string;
}

/** A piece of a template: text, an expression in `{{ }}`, or a statement in `{% %}`. */
export interface Piece {
  readonly kind: 'text' | 'expression' | 'statement';
  readonly text: string;
  readonly tokens: readonly JinjaToken[];
}

/**
 * Cuts a template into its pieces. Comments are left out, `-` at a delimiter takes the white space beside it away,
 * and one line break at the very end is no part of the template.
 *
 * @throws {TemplateError} for a delimiter without its counterpart, or a character that no expression has
 */
export function cut(template: string): readonly Piece[] {
  const source = template.replace(/\r?\n$/, '');
  const pieces: Piece[] = [];
  let at = 0;
  let trims = false;
  while (at < source.length) {
    const open = nextOpening(source, at);
    const text = source.slice(at, open);
    const kept = trims ? text.trimStart() : text;
    const isTrimmed = source[open + 2] === '-';
    pieces.push({ kind: 'text', text: isTrimmed ? kept.trimEnd() : kept, tokens: [] });
    if (open === source.length) break;
    const mark = source[open + 1];
    if (mark === '#') {
      const end = source.indexOf('#}', open + 2);
      if (end === -1) throw new TemplateError('a comment is not closed by #}');
      trims = source[end - 1] === '-';
      at = end + 2;
      continue;
    }
    const start = open + (isTrimmed ? 3 : 2);
    const { tokens, end, trimsAfter } = tokenize(source, start, mark === '{' ? '}}' : '%}');
    pieces.push({
      kind: mark === '{' ? 'expression' : 'statement',
      text: source.slice(start, end),
      tokens,
    });
    trims = trimsAfter;
    at = end;
  }
  return pieces.filter(({ kind, text }) => kind !== 'text' || text !== '');
}

function nextOpening(source: string, from: number): number {
  const found = source.slice(from).search(/\{[{%#]/);
  return found === -1 ? source.length : from + found;
}

/** A number, a name or a sign, at one place. */
const TOKEN =
  /(?<number>\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?:\/\/|\*\*|==|!=|<=|>=|[-+*/%~<>=()[\]{},:.|])/uy;
const SPACE = /\s*/y;

function tokenize(
  source: string,
  from: number,
  close: '}}' | '%}',
): { tokens: readonly JinjaToken[]; end: number; trimsAfter: boolean } {
  const tokens: JinjaToken[] = [];
  let depth = 0;
  let at = from;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(source);
    at = SPACE.lastIndex;
    if (at >= source.length) throw new TemplateError(`an expression is not closed by ${close}`);
    if (depth === 0 && source.startsWith(close, at)) return { tokens, end: at + 2, trimsAfter: false };
    if (depth === 0 && source.startsWith(`-${close}`, at)) return { tokens, end: at + 3, trimsAfter: true };
    const first = source[at] ?? '';
    if (first === '"' || first === "'") {
      const { text, length } = readText(source.slice(at), first);
      tokens.push({ kind: 'text', text });
      at += length;
      continue;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    const { number, name } = match?.groups ?? {};
    const [found] = match ?? [];
    if (found === undefined) throw new TemplateError(`“${first}” does not belong into an expression`);
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else {
      depth += '([{'.includes(found) ? 1 : ')]}'.includes(found) ? -1 : 0;
      if (depth < 0) throw new TemplateError(`“${found}” closes nothing`);
      tokens.push({ kind: 'sign', text: found });
    }
    at += found.length;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '0': '\0',
  '\n': '',
};

/** Reads a text in quotes, with the escapes of the template language. */
function readText(rest: string, quote: string): { text: string; length: number } {
  let text = '';
  for (let at = 1; at < rest.length; at++) {
    const char = rest[at] ?? '';
    if (char === quote) return { text, length: at + 1 };
    if (char !== '\\') {
      text += char;
      continue;
    }
    at++;
    const escaped = rest[at] ?? '';
    const code = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(rest.slice(at));
    if (code !== null) {
      text += String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? '0', 16));
      at += code[0].length - 1;
    } else if (escaped === quote || escaped === '\\' || escaped === '"' || escaped === "'") text += escaped;
    else text += ESCAPES[escaped] ?? `\\${escaped}`;
  }
  throw new TemplateError('a text in quotes is not closed');
}
