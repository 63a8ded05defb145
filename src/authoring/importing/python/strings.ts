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

/** Returns the text between the quotes of a string without the prefix `r`; an unknown escape stays as it is. */
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
