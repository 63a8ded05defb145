import { Call, Code, isList, Setting, TextParts, ValueMap, type Value } from '../value.ts';
import { formattedParts, unescaped } from './strings.ts';
import { tokensOf, type Token } from './tokens.ts';

/** How deep names may stand for names. */
const MAX_DEPTH = 50;

/** Reads the literals of a Python file; names stand for what they were given before. Nothing is run. */
export class PythonReader {
  readonly #source: string;
  readonly #file: string;
  readonly tokens: readonly Token[];
  /** Where the expressions begin that names were given, in order. */
  readonly #given = new Map<string, number[]>();
  /** Parameters of functions without a default. */
  readonly #parameters = new Set<string>();
  readonly #usedNames = new Set<string>();
  #depth = 0;

  constructor(source: string, file: string, tokens: readonly Token[] = tokensOf(source, file)) {
    this.#source = source;
    this.#file = file;
    this.tokens = tokens;
    this.#collect();
  }

  /** Names whose values were read: what else is done with them is to be looked at. */
  get usedNames(): ReadonlySet<string> {
    return this.#usedNames;
  }

  /** The expression that begins at a token. */
  expressionAt(index: number): Value {
    return new Expression(this, this.#source, this.#file, index).read();
  }

  /** What a name stands for at a place of the file: the value given last before it. */
  valueOf(name: string, before: number): Value | undefined {
    const given = this.#given.get(name) ?? [];
    const at = given.filter((index) => index < before).at(-1) ?? given[0];
    if (at === undefined) return this.#parameters.has(name) ? new Setting(name, false) : undefined;
    if (this.#depth > MAX_DEPTH) return undefined;
    this.#usedNames.add(name);
    this.#depth++;
    try {
      return this.expressionAt(at);
    } finally {
      this.#depth--;
    }
  }

  /** Lines on which a name that was read is changed afterwards by code. */
  changes(): readonly { readonly name: string; readonly line: number }[] {
    return this.tokens.flatMap((token, i) => {
      if (token.kind !== 'name' || !this.#usedNames.has(token.text)) return [];
      if (this.tokens[i - 1]?.text === '.') return [];
      const isChanged =
        this.#isItemSet(i + 1) || this.#isChangeCall(i + 1) || /^[-+*/|]=$/.test(this.#text(i + 1));
      return isChanged ? [{ name: token.text, line: token.line }] : [];
    });
  }

  #text(index: number): string {
    return this.tokens[index]?.text ?? '';
  }

  /** `[…]` or `[…][…]` with `=` behind it. */
  #isItemSet(index: number): boolean {
    if (this.#text(index) !== '[') return false;
    let at = index;
    while (this.#text(at) === '[') at = closing(this.tokens, at) + 1;
    return /^(?:=|[-+*/|]=)$/.test(this.#text(at)) || this.#isChangeCall(at);
  }

  #isChangeCall(index: number): boolean {
    const isMethod = /^(?:append|extend|insert|update|setdefault|pop|remove|clear)$/.test(
      this.#text(index + 1),
    );
    return this.#text(index) === '.' && isMethod && this.#text(index + 2) === '(';
  }

  #collect(): void {
    for (const [i, { kind, text, depth }] of this.tokens.entries()) {
      if (kind !== 'name') continue;
      if (text === 'def' && this.tokens[i + 2]?.text === '(') this.#collectParameters(i + 2);
      if (depth > 0 || !this.#beginsStatement(i)) continue;
      const at = this.#afterAnnotation(i + 1);
      if (this.#text(at) === '=') this.#add(text, at + 1);
    }
  }

  #beginsStatement(index: number): boolean {
    const before = this.tokens[index - 1];
    return before === undefined || before.kind === 'line' || before.text === ';' || before.text === ':';
  }

  /** Skips `: RESTAPIConfig` behind a name. */
  #afterAnnotation(index: number): number {
    if (this.#text(index) !== ':') return index;
    let at = index + 1;
    while (!/^[=,)]$/.test(this.#text(at)) && !['line', 'end'].includes(this.tokens[at]?.kind ?? 'end'))
      at = /^[([{]$/.test(this.#text(at)) ? closing(this.tokens, at) + 1 : at + 1;
    return at;
  }

  #collectParameters(open: number): void {
    const end = closing(this.tokens, open);
    for (let at = open + 1; at < end;) {
      const { kind = 'end', text = '' } = this.tokens[at] ?? {};
      const next = this.#afterAnnotation(at + 1);
      if (kind === 'name' && this.#text(next) === '=') this.#add(text, next + 1);
      else if (kind === 'name') this.#parameters.add(text);
      at = next;
      while (at < end && this.#text(at) !== ',')
        at = /^[([{]$/.test(this.#text(at)) ? closing(this.tokens, at) + 1 : at + 1;
      at++;
    }
  }

  #add(name: string, index: number): void {
    const known = this.#given.get(name);
    if (known === undefined) this.#given.set(name, [index]);
    else known.push(index);
  }
}

/** Index of the bracket that closes the one at `index`; of the end where there is none. */
function closing(tokens: readonly Token[], index: number): number {
  const depth = tokens[index]?.depth ?? 0;
  for (let at = index + 1; at < tokens.length; at++) {
    const token = tokens[at];
    if (token?.kind === 'op' && /^[)\]}]$/.test(token.text) && token.depth <= depth) return at;
  }
  return tokens.length - 1;
}

class Expression {
  readonly #reader: PythonReader;
  readonly #source: string;
  readonly #file: string;
  #at: number;

  constructor(reader: PythonReader, source: string, file: string, at: number) {
    this.#reader = reader;
    this.#source = source;
    this.#file = file;
    this.#at = at;
  }

  read(): Value {
    const start = this.#at;
    const first = this.#sum();
    if (this.#isEnd()) return first;
    if (this.#text() === 'if') {
      const chosen = this.#conditional(first);
      if (chosen !== undefined) return chosen;
    }
    return this.#code(start);
  }

  /** `X if given else None` is X: whoever leaves the setting empty knows. */
  #conditional(value: Value): Value | undefined {
    const at = this.#at;
    this.#at++;
    while (!this.#isEnd() && this.#text() !== 'else') this.#skip();
    if (this.#text() === 'else') {
      this.#at++;
      const other = this.#sum();
      if (this.#isEnd() && other === null) return value;
    }
    this.#at = at;
    return undefined;
  }

  #token(): Token {
    const token = this.#reader.tokens[this.#at] ?? this.#reader.tokens.at(-1);
    if (token === undefined) throw new Error('a file has an end');
    return token;
  }

  #text(): string {
    return this.#token().text;
  }

  #isEnd(): boolean {
    const { kind, text } = this.#token();
    return kind === 'end' || kind === 'line' || (kind === 'op' && /^[,)\]}:=;]$/.test(text));
  }

  #skip(): void {
    const { kind, text } = this.#token();
    this.#at =
      kind === 'op' && /^[([{]$/.test(text) ? closing(this.#reader.tokens, this.#at) + 1 : this.#at + 1;
  }

  /** What is not read: up to where the expression ends. */
  #code(start: number): Code {
    const { start: from, line } = this.#reader.tokens[start] ?? this.#token();
    this.#at = start;
    let lambdas = 0;
    for (;;) {
      const { text } = this.#token();
      if (text === 'lambda') lambdas++;
      const isColon = text === ':' && lambdas > 0;
      const isComma = text === ',' && lambdas > 0;
      const isDefault = text === '=' && lambdas > 0;
      if (isColon) lambdas--;
      if (!isColon && !isComma && !isDefault && this.#isEnd()) break;
      this.#skip();
    }
    const end = this.#reader.tokens[this.#at - 1]?.end ?? from;
    return new Code(this.#source.slice(from, end).replaceAll(/\s+/g, ' '), line);
  }

  /** Texts that are put together, and sums of lists. */
  #sum(): Value {
    const start = this.#at;
    let value = this.#primary();
    while (this.#text() === '+' || this.#text() === '|') {
      this.#at++;
      const other = this.#primary();
      const sum = added(value, other);
      if (sum === undefined) return this.#code(start);
      value = sum;
    }
    return value;
  }

  #primary(): Value {
    const start = this.#at;
    const token = this.#token();
    if (token.kind === 'string') return this.#strings();
    if (token.kind === 'number') {
      this.#at++;
      return numberOf(token) ?? this.#code(start);
    }
    if (token.text === '-') {
      this.#at++;
      const value = this.#primary();
      return typeof value === 'number' ? -value : this.#code(start);
    }
    if (token.text === '[') return this.#list(']');
    if (token.text === '(') return this.#group();
    if (token.text === '{') return this.#map();
    if (token.kind === 'name') return this.#name();
    return this.#code(start);
  }

  #strings(): Value {
    const start = this.#at;
    const parts: (string | Setting)[] = [];
    while (this.#token().kind === 'string') {
      const { prefix = '', body = '' } = this.#token();
      this.#at++;
      if (prefix.includes('b')) return this.#code(start);
      const text = prefix.includes('r') ? body : unescaped(body);
      if (!prefix.includes('f')) {
        parts.push(text);
        continue;
      }
      const formatted = formattedParts(text);
      if (formatted === undefined) return this.#code(start);
      for (const part of formatted) {
        const value = 'text' in part ? part.text : this.#inner(part.expression, start);
        if (typeof value === 'string' || value instanceof Setting) parts.push(value);
        else if (typeof value === 'number') parts.push(String(value));
        else if (value instanceof TextParts) parts.push(...value.parts);
        else return this.#code(start);
      }
    }
    return textOf(parts);
  }

  /** An expression in the braces of an f-string. */
  #inner(expression: string, before: number): Value {
    const name = /^\w+$/.test(expression) ? expression : undefined;
    if (name !== undefined) return this.#reader.valueOf(name, before) ?? new Code(expression, 0);
    const inner = new PythonReader(expression, this.#file);
    return inner.expressionAt(0);
  }

  #list(close: string): readonly Value[] {
    const items: Value[] = [];
    this.#at++;
    while (this.#text() !== close && this.#token().kind !== 'end') {
      const isUnpacked = this.#text() === '*';
      const { line } = this.#token();
      if (isUnpacked) this.#at++;
      const value = this.read();
      if (!isUnpacked) items.push(value);
      else if (isList(value)) items.push(...value);
      else items.push(new Code('*…', line));
      if (this.#text() !== ',' && this.#text() !== close) this.#skip();
      if (this.#text() === ',') this.#at++;
    }
    this.#at++;
    return items;
  }

  /** `(value)` is the value, `(a, b)` a list. */
  #group(): Value {
    const start = this.#at;
    const end = closing(this.#reader.tokens, start);
    const items = this.#list(')');
    const [only] = items;
    const isTuple = items.length !== 1 || this.#reader.tokens[end - 1]?.text === ',';
    return isTuple || only === undefined ? items : only;
  }

  #map(): Value {
    const start = this.#at;
    const entries: [string, Value][] = [];
    const open: Code[] = [];
    this.#at++;
    while (this.#text() !== '}' && this.#token().kind !== 'end') {
      const { line } = this.#token();
      if (this.#text() === '**') {
        this.#at++;
        const inner = this.read();
        if (inner instanceof ValueMap) {
          entries.push(...inner.entries);
          open.push(...inner.open);
        } else open.push(inner instanceof Code ? inner : new Code('**…', line));
      } else {
        const key = this.read();
        // a set, or what makes a dictionary
        if (this.#text() !== ':') return this.#code(start);
        this.#at++;
        const value = this.read();
        // what makes a dictionary of something else
        if (value instanceof Code && /\bfor\b/.test(value.text)) return this.#code(start);
        if (typeof key === 'string') entries.push([key, value]);
        else open.push(key instanceof Code ? key : new Code('a key that is no text', line));
      }
      if (this.#text() !== ',' && this.#text() !== '}') return this.#code(start);
      if (this.#text() === ',') this.#at++;
    }
    this.#at++;
    return new ValueMap(entries, open);
  }

  #name(): Value {
    const start = this.#at;
    const names: string[] = [];
    for (;;) {
      const { kind, text } = this.#token();
      if (kind !== 'name') return this.#code(start);
      names.push(text);
      this.#at++;
      if (this.#text() !== '.') break;
      this.#at++;
    }
    const path = names.join('.');
    if (names.length === 1) {
      const constant = CONSTANTS.get(path);
      if (constant !== undefined) return constant;
      if (path === 'lambda' || path === 'not' || path === 'await') return this.#code(start);
    }
    if (this.#text() === '(') return this.#call(start, path);
    if (this.#text() === '[') return this.#item(start, path);
    if (/^dlt\.secrets\.value$/.test(path)) return new Setting(this.#assigned(start) ?? 'secret', true);
    if (/^dlt\.config\.value$/.test(path)) return new Setting(this.#assigned(start) ?? 'setting', false);
    if (names.length > 1) return this.#code(start);
    return this.#reader.valueOf(path, start) ?? this.#code(start);
  }

  /** The name that is given what begins here: `token: str = dlt.secrets.value`. */
  #assigned(start: number): string | undefined {
    for (let at = start - 1; at > 0 && at > start - 12; at--) {
      const { kind = 'end', text = '' } = this.#reader.tokens[at] ?? {};
      const before = this.#reader.tokens[at - 1]?.text ?? '';
      if (kind === 'name' && /^[,(]?$|^\n$/.test(before.trim() === '' ? '' : before)) return text;
    }
    return undefined;
  }

  #call(start: number, path: string): Value {
    const end = closing(this.#reader.tokens, this.#at);
    const args: Value[] = [];
    const keywords: [string, Value][] = [];
    const open: Code[] = [];
    this.#at++;
    while (this.#at < end) {
      const { kind, text, line } = this.#token();
      if (text === '**' || text === '*') {
        this.#at++;
        const inner = this.read();
        if (inner instanceof ValueMap) keywords.push(...inner.entries);
        else open.push(new Code(`${text}…`, line));
      } else if (kind === 'name' && this.#reader.tokens[this.#at + 1]?.text === '=') {
        this.#at += 2;
        keywords.push([text, this.read()]);
      } else args.push(this.read());
      if (this.#text() !== ',' && this.#at < end) return this.#code(start);
      if (this.#text() === ',') this.#at++;
    }
    this.#at = end + 1;
    // a method of what came out, such as `.isoformat()`
    if (/^[.([]$/.test(this.#text())) return this.#code(start);
    const [first] = args;
    if (/^(?:os\.)?getenv$|^os\.environ\.get$/.test(path) && typeof first === 'string')
      return new Setting(first.toLowerCase(), true, first);
    if (/^dlt\.(?:secrets|config)\.get$/.test(path) && typeof first === 'string')
      return settingAt(first, path.startsWith('dlt.secrets'));
    const { start: from } = this.#reader.tokens[start] ?? this.#token();
    const source = this.#source.slice(from, this.#reader.tokens[end]?.end).replaceAll(/\s+/g, ' ');
    return new Call(path.split('.').at(-1) ?? path, args, new ValueMap(keywords, open), source);
  }

  #item(start: number, path: string): Value {
    const end = closing(this.#reader.tokens, this.#at);
    this.#at++;
    const key = this.read();
    this.#at = end + 1;
    if (/^[.([]$/.test(this.#text()) || typeof key !== 'string') return this.#code(start);
    if (path === 'dlt.secrets') return settingAt(key, true);
    if (path === 'dlt.config') return settingAt(key, false);
    if (path === 'os.environ' || path === 'environ') return new Setting(key.toLowerCase(), true, key);
    const known = /^\w+$/.test(path) ? this.#reader.valueOf(path, start) : undefined;
    return (known instanceof ValueMap ? known.get(key) : undefined) ?? this.#code(start);
  }
}

const CONSTANTS = new Map<string, Value>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

function settingAt(path: string, isSecret: boolean): Setting {
  return new Setting(path.split('.').at(-1) ?? path, isSecret);
}

function textOf(parts: readonly (string | Setting)[]): Value {
  const merged: (string | Setting)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  const [only] = merged;
  if (merged.length === 0) return '';
  return merged.length === 1 && typeof only === 'string' ? only : new TextParts(merged);
}

type TextLike = string | Setting | TextParts;

function isText(value: Value): value is TextLike {
  return typeof value === 'string' || value instanceof Setting || value instanceof TextParts;
}

function textParts(value: TextLike): readonly (string | Setting)[] {
  return value instanceof TextParts ? value.parts : [value];
}

function added(first: Value, second: Value): Value | undefined {
  if (isText(first) && isText(second)) return textOf([...textParts(first), ...textParts(second)]);
  if (typeof first === 'number' && typeof second === 'number') return first + second;
  if (isList(first) && isList(second)) return [...first, ...second];
  if (first instanceof ValueMap && second instanceof ValueMap)
    return new ValueMap([...first.entries, ...second.entries], [...first.open, ...second.open]);
  return undefined;
}

function numberOf({ text }: Token): number | undefined {
  const value = Number(text.replaceAll('_', ''));
  return Number.isNaN(value) ? undefined : value;
}
