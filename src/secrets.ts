import { toJsonText } from './json/index.ts';

/** What stands where a secret was. */
export const HIDDEN = '***';

/** Shorter values would hide half of every text. */
const SHORTEST = 4;

/** Names of query parameters and headers whose values are secret, whoever set them. */
const SECRET_NAME =
  /token|api-?_?key|access-?_?key|private-?_?key|^key$|[-_]key$|secret|passw|^pwd$|^pass$|signature|^sig$|authorization|credential|cookie|^jwt$/i;
/** Where a page stands is no secret, though its name may end in "token". */
const POSITION_NAME =
  /^(?:next|prev|previous|page|continuation|scroll|sync|sort|start|partition)[-_]?(?:page)?[-_]?(?:token|key)$/i;

/** True for a query parameter or header that carries a secret by its name (`access_token`, `X-Api-Key`). */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !POSITION_NAME.test(name);
}

/** The secrets of a run. Whatever is shown or logged goes through it. */
export class Secrets {
  readonly #forms = new Set<string>();
  #pattern: RegExp | undefined;

  /** Values shorter than four characters are ignored. */
  add(value: string): void {
    if (value.length < SHORTEST) return;
    const before = this.#forms.size;
    for (const form of formsOf(value)) if (form.length >= SHORTEST) this.#forms.add(form);
    if (this.#forms.size !== before) this.#pattern = undefined;
  }

  /** The text with every known secret replaced: plain, URL-encoded, base64 or escaped as in JSON. */
  redact(text: string): string {
    if (this.#forms.size === 0) return text;
    this.#pattern ??= patternOf(this.#forms);
    return text.replace(this.#pattern, HIDDEN);
  }

  /** True for a text with a known secret in it, in any of these forms. */
  holds(text: string): boolean {
    return this.redact(text) !== text;
  }

  /** An address to show: without user and password, without the values of secret query parameters. */
  redactUrl(url: string): string {
    const open = url.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, `$1//${HIDDEN}@`);
    const start = open.indexOf('?');
    if (start === -1) return this.redact(open);
    const query = open
      .slice(start + 1)
      .split('&')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals > 0 && isSecretName(readable(pair.slice(0, equals)))
          ? `${pair.slice(0, equals)}=${HIDDEN}`
          : pair;
      });
    return this.redact(`${open.slice(0, start)}?${query.join('&')}`);
  }

  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        isSecretName(name) ? HIDDEN : this.redact(value),
      ]),
    );
  }
}

function formsOf(value: string): string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, percent);
  const form = strict.replaceAll('~', '%7E').replaceAll('%20', '+');
  const base64 = Buffer.from(value).toString('base64');
  const bare = base64.replace(/=+$/, '');
  return [
    value,
    encoded,
    strict,
    form,
    strict.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    base64,
    bare,
    bare.replaceAll('+', '-').replaceAll('/', '_'),
    strict.length === value.length ? bare : encodeURIComponent(base64),
    JSON.stringify(value).slice(1, -1),
    toJsonText(value).slice(1, -1),
  ];
}

/** Longest first, so that no form leaves the rest of a longer one behind. */
function patternOf(forms: Iterable<string>): RegExp {
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

function readable(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
