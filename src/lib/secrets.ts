import { isUtf8 } from 'node:buffer';
import { toJsonText } from './json/index.ts';
import { trimEnd } from './trim.ts';
import { percent, percentDecoded } from './percent.ts';
import { remember } from './remember.ts';

/** Replacement of a secret. */
export const HIDDEN = '***';

/** Shortest value that is hidden: shorter ones would hide half of every text. */
const SHORTEST = 4;

/** Names of query parameters and headers whose values are secret, whoever set them. */
const SECRET_NAME =
  /token|api-?_?key|access-?_?key|private-?_?key|^key$|[-_]key$|secret|passw|^pwd$|^pass$|signature|^sig$|authorization|credential|cookie|^jwt$/i;
/** Names of positions in a list of pages: no secrets, though they may end in "token". */
const POSITION_NAME =
  /^(?:next|prev|previous|page|continuation|scroll|sync|sort|start|partition)[-_]?(?:page)?[-_]?(?:token|key)$/i;

/** Tells whether a query parameter or header carries a secret by its name (`access_token`, `X-Api-Key`). */
export const isSecretName = remember((name) => SECRET_NAME.test(name) && !POSITION_NAME.test(name));

/** Tells the same of a name in an address, which may be percent-encoded. */
const isSecretParameter = remember((name) => isSecretName(percentDecoded(name)));

/** Tells whether a query has a secret parameter, so that most addresses are not taken apart. */
function hasSecretParameter(url: string, start: number): boolean {
  for (let at = start + 1; at > 0; at = url.indexOf('&', at) + 1) {
    const equals = url.indexOf('=', at);
    if (equals === -1) return false;
    if (isSecretParameter(url.slice(at, equals))) return true;
  }
  return false;
}

const USER_INFO = /\/\/[^\s/?#\\"'<>“”]*@/g;
const PARAMETER = /(?<![\w.%~[\]-])([\w.%~[\]-]+)=[^\s&;,#"'<>(){}“”\\]+/g;

/** Secrets of a run. Everything that is shown or logged passes through it. */
export class Secrets {
  readonly #forms = new Set<string>();
  readonly #windows = new Set<string>();
  #pattern: RegExp | undefined;

  /** Adds a secret. Values shorter than four characters are ignored. */
  add(value: string): void {
    if (value.length < SHORTEST) return;
    const before = this.#forms.size;
    for (const form of formsOf(value)) if (form.length >= SHORTEST) this.#forms.add(form);
    for (const window of windowsOf(value)) this.#windows.add(window);
    if (this.#forms.size !== before) this.#pattern = undefined;
  }

  /** Changes with each secret that is added: what was redacted before may hold it. */
  get version(): number {
    return this.#forms.size;
  }

  /** Replaces every known secret in the text: plain, URL-encoded, in base64, escaped as in JSON or HTML. */
  redact(text: string): string {
    if (this.#forms.size === 0) return text;
    this.#pattern ??= patternOf(this.#forms, this.#windows);
    return text.replace(this.#pattern, HIDDEN);
  }

  /**
   * Redacts a message for users: also user and password in addresses, and the value of a secret parameter (`api_key=`),
   * even when they were not added as secrets.
   */
  redactMessage(text: string): string {
    const open = text
      .replace(USER_INFO, `//${HIDDEN}@`)
      .replace(PARAMETER, (pair, name: string) => (isSecretParameter(name) ? `${name}=${HIDDEN}` : pair));
    return this.redact(open);
  }

  /** Masks known secrets with stars, as many as the secret has bytes: offsets into the bytes stay right. */
  mask(bytes: Uint8Array): Uint8Array {
    if (this.#forms.size === 0) return bytes;
    this.#pattern ??= patternOf(this.#forms, this.#windows);
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // bytes that are not UTF-8 would not survive decoding and encoding
    const encoding = isUtf8(given) ? 'utf8' : 'latin1';
    const text = given.toString(encoding);
    const masked = text.replace(this.#pattern, (found) => '*'.repeat(Buffer.byteLength(found, encoding)));
    return masked === text ? bytes : Buffer.from(masked, encoding);
  }

  /**
   * Masks the secrets of a JSON text, or of JSON lines, so that it stays JSON of as many bytes: stars in texts, other
   * digits in numbers.
   *
   * @param numbers `kept` where they are not from outside
   */
  maskJson(bytes: Uint8Array, numbers: 'masked' | 'kept' = 'masked'): Uint8Array {
    if (this.#forms.size === 0) return bytes;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const masked = this.#maskedJson(text, numbers);
    if (masked === text) return bytes;
    const isBroken = !isUtf8(bytes) || (isJson(text) && !isJson(masked));
    return isBroken ? this.mask(bytes) : Buffer.from(masked);
  }

  #maskedJson(text: string, numbers: 'masked' | 'kept'): string {
    this.#pattern ??= patternOf(this.#forms, this.#windows);
    // an escape is one sign: a secret does not begin inside of it
    const signs = new RegExp(`(${this.#pattern.source})|\\\\u[\\da-fA-F]{4}|\\\\[^]|"`, 'g');
    let isInText = false;
    return text.replace(signs, (found, secret?: string) => {
      const hidden =
        secret === undefined ? found : isInText ? starsFor(secret) : this.#hiddenNumber(secret, numbers);
      if (found.replace(/\\[^]/g, '').split('"').length % 2 === 0) isInText = !isInText;
      return hidden;
    });
  }

  /** Masks a secret outside of texts. Only numbers can be secret there; words such as `true` are not. */
  #hiddenNumber(secret: string, numbers: 'masked' | 'kept'): string {
    if (!/^[\d.eE+-]+$/.test(secret)) return /^[a-z]+$/.test(secret) ? secret : starsFor(secret);
    if (numbers === 'kept') return secret;
    const others = Array.from('123456789', (digit) => secret.replace(/\d/g, digit));
    return others.find((other) => !this.holds(other)) ?? '0'.padEnd(secret.length);
  }

  /** Tells whether a text contains a known secret, in any of these forms. */
  holds(text: string): boolean {
    return this.redact(text) !== text;
  }

  /** Redacts an address: without user and password, without the values of secret query parameters. */
  redactUrl(url: string): string {
    const open = url.includes('@')
      ? url.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, `$1//${HIDDEN}@`)
      : url;
    const start = open.indexOf('?');
    if (start === -1 || !hasSecretParameter(open, start)) return this.redact(open);
    const query = open
      .slice(start + 1)
      .split('&')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals > 0 && isSecretParameter(pair.slice(0, equals))
          ? `${pair.slice(0, equals)}=${HIDDEN}`
          : pair;
      });
    return this.redact(`${open.slice(0, start)}?${query.join('&')}`);
  }

  /** Redacts a body of JSON or of a form. Values are also hidden when the name of their key marks them as secret. */
  redactBody(body: string): string {
    if (!/^\s*[[{]/.test(body)) return this.redactUrl(`?${body}`).slice(1);
    return this.redact(withoutNamed(body));
  }

  /** Redacts the beginning of an answer in a message; it may end inside a value. */
  redactBeginning(text: string): string {
    return this.redactMessage(withoutNamed(text));
  }

  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    const redacted: Record<string, string> = {};
    for (const name of Object.keys(headers))
      redacted[name] = isSecretName(name) ? HIDDEN : this.redact(headers[name] ?? '');
    return redacted;
  }
}

/** Key of JSON and its text value, which may be cut off. */
const MEMBER = /(?<!\\)"((?:[^"\\]|\\[^])*)"\s*:\s*"(?:[^"\\]|\\[^])*(?:"|\\?$)/g;

/** Hides values in JSON that the name of their key marks as secret. */
function withoutNamed(json: string): string {
  return json.replace(MEMBER, (pair, name: string) => (isSecretName(name) ? `"${name}":"${HIDDEN}"` : pair));
}

/** Returns the forms in which the value may appear in an address, a form, a header, JSON text or a page. */
function formsOf(value: string): string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, percent);
  const form = strict.replaceAll('~', '%7E').replaceAll('%20', '+');
  const json = JSON.stringify(value).slice(1, -1);
  const base64 = Buffer.from(value).toString('base64');
  const bare = trimEnd(base64, '=');
  const inUrl = [encoded, strict, form, encodeURIComponent(base64)];
  return [
    value,
    ...inUrl,
    ...inUrl.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    encodeURIComponent(strict),
    base64,
    bare,
    urlSafe(bare),
    json,
    JSON.stringify(json).slice(1, -1),
    toJsonText(value).slice(1, -1),
    asciiJson(json, (code) => code),
    asciiJson(json, (code) => code.toUpperCase()),
    ...APOSTROPHES.map((apostrophe) => htmlText(value, apostrophe)),
  ];
}

/** Shortest part of base64 that is hidden: shorter ones appear in texts by chance. */
const SHORTEST_WINDOW = 8;

/**
 * Returns the parts that the base64 of any text has when the value is a part of that text, as the password is of
 * `user:password`.
 *
 * There are three, since a group of three bytes may begin anywhere in it. The characters at both ends, which hold bits
 * of the neighbours, are left out.
 */
function windowsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const window = text.slice(Math.ceil((shift * 4) / 3), Math.floor(((shift + bytes.length) * 4) / 3));
    return window.length < SHORTEST_WINDOW ? [] : [window, urlSafe(window)];
  });
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** Escapes JSON as encoders do that write ASCII only. */
function asciiJson(json: string, spell: (code: string) => string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${spell(char.charCodeAt(0).toString(16).padStart(4, '0'))}`,
  );
}

function starsFor(secret: string): string {
  return '*'.repeat(Buffer.byteLength(secret));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const APOSTROPHES = ["'", '&#39;', '&#039;', '&#x27;'];

function htmlText(value: string, apostrophe: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

/** Builds the pattern of all forms. The longest come first, so that no form leaves the rest of a longer one behind. */
function patternOf(forms: Iterable<string>, windows: Iterable<string>): RegExp {
  const whole = literals(forms);
  const parts = literals(windows).map((window) => `[\\w+/-]?${window}[\\w+/-]?=*`);
  return new RegExp([...whole, ...parts].join('|'), 'g');
}

function literals(texts: Iterable<string>): string[] {
  return [...texts]
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
}

/** Shortest password and shortest parameter value: shorter ones would hide common words. */
const SHORTEST_PASSWORD = 6;
const SHORTEST_VALUE = 8;

/** Returns the secrets of an address that the configuration has in the open: a password, the value of `api_key=`. */
export function secretsInAddress(text: string): readonly string[] {
  const [, password = ''] = /^(?:https?:)?\/\/[^\s/?#:]*:([^\s/?#]*)@/i.exec(text) ?? [];
  const mark = text.indexOf('?');
  const values = (mark < 0 ? [] : text.slice(mark + 1).split(/[&#]/)).flatMap((pair) => {
    const equals = pair.indexOf('=');
    return equals > 0 && isSecretParameter(pair.slice(0, equals)) ? [pair.slice(equals + 1)] : [];
  });
  return [
    ...[password].filter((one) => one.length >= SHORTEST_PASSWORD),
    ...values.filter((value) => value.length >= SHORTEST_VALUE && !/[{}]/.test(value)),
  ].flatMap((one) => [one, percentDecoded(one)]);
}
