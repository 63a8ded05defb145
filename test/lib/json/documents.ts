/** A generator of JSON texts full of what parsers lose: odd keys, their order, and number literals. Always the same. */
export class Documents {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** JSON text without white space. */
  value(depth = 3): string {
    const kind = this.#pick(depth > 0 ? 10 : 6);
    if (kind < 3) return this.number();
    if (kind === 3) return JSON.stringify(this.#text());
    if (kind === 4) return ['true', 'false', 'null'][this.#pick(3)] ?? 'null';
    if (kind === 5) return this.number();
    return kind < 8 ? this.object(depth) : this.list(depth);
  }

  object(depth = 3): string {
    const keys = new Set<string>();
    for (let count = this.#pick(6); count > 0; count--) keys.add(KEYS[this.#pick(KEYS.length)] ?? '');
    return `{${[...keys].map((key) => `${JSON.stringify(key)}:${this.value(depth - 1)}`).join(',')}}`;
  }

  list(depth = 3): string {
    return `[${Array.from({ length: this.#pick(4) }, () => this.value(depth - 1)).join(',')}]`;
  }

  number(): string {
    const sign = this.#pick(4) === 0 ? '-' : '';
    const form = this.#pick(8);
    if (form < 3) return sign + this.#whole(form === 0 ? 22 : 6);
    if (form < 6) return `${sign}${this.#whole(form === 3 ? 18 : 5)}.${this.#digits(form === 4 ? 18 : 5)}`;
    const exponent = `${this.#pick(2) === 0 ? 'e' : 'E'}${['', '+', '-'][this.#pick(3)] ?? ''}${this.#pick(30)}`;
    return `${sign}${this.#whole(5)}${form === 6 ? `.${this.#digits(4)}` : ''}${exponent}`;
  }

  /** The same text with white space wherever it may stand. */
  spaced(text: string): string {
    return text.replaceAll(TOKEN, (token) => (this.#pick(4) === 0 ? `${token} \n\t` : token));
  }

  /** One change somewhere: a character dropped, doubled, replaced or swapped; the end cut off. */
  broken(text: string): string {
    return this.#changed(text).toWellFormed(); // half of a pair is no text that could be sent
  }

  #changed(text: string): string {
    const at = this.#pick(text.length);
    const other = '{}[]",:0-.e\\tn \n\u0001é'.charAt(this.#pick(19));
    const kind = this.#pick(5);
    if (kind === 0) return text.slice(0, at) + text.slice(at + 1);
    if (kind === 1) return text.slice(0, at) + text.charAt(at) + text.slice(at);
    if (kind === 2) return text.slice(0, at) + other + text.slice(at + 1);
    if (kind === 3) return text.slice(0, at);
    return text.slice(0, at) + other + text.slice(at);
  }

  #whole(most: number): string {
    const digits = this.#digits(most).replace(/^0+/, '');
    return digits === '' ? '0' : digits;
  }

  #digits(most: number): string {
    return Array.from({ length: 1 + this.#pick(most) }, () => String(this.#pick(10))).join('');
  }

  #text(): string {
    return Array.from({ length: this.#pick(4) }, () => TEXTS[this.#pick(TEXTS.length)]).join('');
  }

  /** 0 to count - 1 (mulberry32). */
  #pick(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  }
}

const KEYS = [
  '1',
  '10',
  '2',
  '__proto__',
  'constructor',
  'toString',
  '',
  'id',
  'a.b',
  'č',
  '"',
  '01',
  '4294967295',
  '12345678901',
  '-1',
  'rows',
];
const TEXTS = ['a', 'č', '"', '\\', '/', '\n', '\u2028', '😀', '[', '}', ',', '12', ' '];
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[a-z]+|[^\s]/g;

/**
 * The text with every number as its decimal: sign, digits, exponent, and whether it was written as an integer. So `1.50`
 * equals `1.5`, and `1.0` is not `1`.
 */
export function withDecimals(text: string): string {
  return text.replaceAll(TOKEN, (token) => (/^-?\d/.test(token) ? decimalOf(token) : token));
}

export function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction, exponent] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + (fraction ?? '')).replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  const power = Number(exponent ?? 0) - (fraction ?? '').length + (digits.length - trimmed.length);
  const kind = fraction === undefined && exponent === undefined ? 'i' : 'f';
  return trimmed === '' ? `${kind}${sign}0` : `${kind}${sign}${trimmed}e${power}`;
}
