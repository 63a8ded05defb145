const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(\r?\n|[^]))/g;

/** The text between the quotes of a string without the prefix `r`; an escape that Python does not know stays as it is. */
export function unescaped(body: string): string {
  return body.replace(
    ESCAPE,
    (whole: string, octal?: string, hex?: string, short?: string, long?: string, sign?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      const code = hex ?? short ?? long;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      return SIMPLE[(sign ?? '').replace('\r\n', '\n')] ?? whole;
    },
  );
}

/** A part of an f-string: text, or the expression in braces. */
export type FormattedPart = { readonly text: string } | { readonly expression: string };

/** The parts of an f-string, already unescaped; undefined where an expression has a format or is not plain. */
export function formattedParts(body: string): readonly FormattedPart[] | undefined {
  const parts: FormattedPart[] = [];
  let text = '';
  for (let at = 0; at < body.length; at++) {
    const sign = body.charAt(at);
    const isTwice = body.charAt(at + 1) === sign;
    if ((sign === '{' || sign === '}') && isTwice) {
      text += sign;
      at++;
    } else if (sign === '{') {
      const end = body.indexOf('}', at);
      const expression = body.slice(at + 1, end).trim();
      if (end === -1 || !/^[\w.[\]"' ]+$/.test(expression)) return undefined;
      if (text !== '') parts.push({ text });
      text = '';
      parts.push({ expression });
      at = end;
    } else if (sign === '}') return undefined;
    else text += sign;
  }
  if (text !== '') parts.push({ text });
  return parts;
}
