const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE =
  /\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c([\s\S])|([\s\S]))/g;

/** Returns the offset of the quote that ends a `$'…'`; -1 when there is none. */
export function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === "'") return at;
  }
  return -1;
}

/**
 * Decodes the inside of `$'…'` (the ANSI-C quoting of bash). `\xHH` and `\NNN` are bytes, so `\xc3\xa9` is one letter.
 */
export function ansiText(inside: string): string {
  const parts: Buffer[] = [];
  let from = 0;
  for (const match of inside.matchAll(ESCAPE)) {
    parts.push(Buffer.from(inside.slice(from, match.index)), escaped(match));
    from = match.index + match[0].length;
  }
  parts.push(Buffer.from(inside.slice(from)));
  return Buffer.concat(parts).toString('utf8');
}

function escaped([whole, hex, octal, short, long, control, other = '']: RegExpMatchArray): Buffer {
  if (hex !== undefined) return Buffer.of(Number.parseInt(hex, 16));
  if (octal !== undefined) return Buffer.of(Number.parseInt(octal, 8) & 0xff);
  const code = short ?? long;
  if (code !== undefined) {
    const point = Number.parseInt(code, 16);
    return Buffer.from(point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd');
  }
  if (control !== undefined) return Buffer.of(control.charCodeAt(0) & 0x1f);
  const plain = SIMPLE[other];
  if (plain !== undefined) return Buffer.from(plain);
  return Buffer.from(/["'?\\]/.test(other) ? other : whole);
}
