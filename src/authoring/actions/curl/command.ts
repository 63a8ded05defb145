import { ActionError } from '../../../lib/errors.ts';
import { nearest } from '../../../lib/suggest.ts';
import { CURL_OPTIONS, type CurlOption } from './curl-options.ts';
import { splitWords } from './words.ts';

/** One piece of a body, as `-d` and its relatives give it. */
export interface DataPiece {
  readonly kind: 'data' | 'json' | 'urlencode' | 'form';
  readonly text: string;
}

/** A curl command, read but not yet understood as a job. */
export interface CurlCommand {
  readonly url: string;
  /** As given by -X; undefined when curl would choose. */
  readonly method: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly data: readonly DataPiece[];
  /** Pieces of `--url-query`. */
  readonly query: readonly string[];
  /** -G: the data belong to the query. */
  readonly dataAsQuery: boolean;
  /** The command logs in: by -u, or by a bearer token. */
  readonly login: 'basic' | 'bearer' | undefined;
  /** Credentials of the login: `user:password`, or the token. A secret. */
  readonly credentials: string | undefined;
  /** Value of `--aws-sigv4`: the credentials sign the request. */
  readonly signature: string | undefined;
  /** Option of a login that is not possible here, such as `--digest`. */
  readonly scheme: string | undefined;
  readonly hasCookies: boolean;
  /** As they are sent: `a=1; b=2`. Secrets. */
  readonly cookies: string | undefined;
  /** Variables of the shell, which stand in the values as written. */
  readonly variables: readonly string[];
  /** Notes on the parts of the command that were left out, for people. No values, which may be secret. */
  readonly warnings: readonly string[];
}

/**
 * Reads a curl command.
 *
 * @throws {ActionError} when it is none, has no address, or does what a job cannot do
 */
export function readCurlCommand(source: string): CurlCommand {
  const { words, rest, variables } = splitWords(source);
  const command = new Reading(variables);
  if (rest !== '')
    command.warnings.push('What follows the command (a pipe, a redirection or another command) is left out.');
  for (const name of variables)
    command.warnings.push(`$${name} is a variable of the shell: put its value in its place.`);
  command.take(withoutProgram(words));
  return command.end();
}

/** Returns the words behind `curl`; a prompt in front of it is tolerated. */
function withoutProgram(words: readonly string[]): readonly string[] {
  const [first, ...others] = /^[$%>#]$/.test(words[0] ?? '') ? words.slice(1) : words;
  if (first !== undefined && /^(?:.*[/\\])?curl(?:\.exe)?$/i.test(first)) return others;
  throw new ActionError(
    'action.invalid',
    first === undefined ? 'The command is empty.' : 'This is no curl command.',
    {
      hint: 'It begins with “curl”. In a browser: network tab, right click on the request, “Copy as cURL”.',
    },
  );
}

/** Pattern of an address, with a scheme or without. */
const ADDRESS = /:\/\/|^[\w-]+(?:\.[\w-]+)+|^localhost\b|^\[/i;

/** Pattern of an address that curl makes several of. */
const SEVERAL = /\{[^{}]*,[^{}]*\}|\[(?:\d+-\d+|[a-z]-[a-z])(?::\d+)?\]/i;

class Reading {
  readonly warnings: string[] = [];
  readonly #urls: string[] = [];
  readonly #headers: [string, string][] = [];
  readonly #data: DataPiece[] = [];
  readonly #query: string[] = [];
  #method: string | undefined;
  #dataAsQuery = false;
  #isLiteral = false;
  #login: 'basic' | 'bearer' | undefined;
  #credentials: string | undefined;
  #signature: string | undefined;
  #scheme: string | undefined;
  readonly #cookies: string[] = [];
  readonly #variables: readonly string[];

  constructor(variables: readonly string[]) {
    this.#variables = variables;
  }

  take(words: readonly string[]): void {
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? '';
      const next = (): string => {
        const value = words[++at];
        if (value === undefined) throw refused(`“${word}” needs a value, and the command ends there.`);
        return value;
      };
      if (word === '--') {
        this.#urls.push(...words.slice(at + 1));
        return;
      }
      if (word.startsWith('--')) this.#long(word, next);
      else if (word.startsWith('-') && word.length > 1) this.#short(word, next);
      else this.#urls.push(word);
    }
  }

  end(): CurlCommand {
    const url = this.#urls.find((word) => ADDRESS.test(word)) ?? this.#urls[0];
    if (url === undefined || url === '')
      throw new ActionError('action.invalid', 'The command has no address.', {
        hint: 'Add it: curl https://api.example.com/users',
      });
    if (!this.#isLiteral && SEVERAL.test(url))
      throw refused(
        'The address stands for several: {a,b} and [1-3] are patterns of curl.',
        'Give one of them; with -g the signs are sent as they are.',
      );
    const others = this.#urls.length - 1;
    if (others > 0)
      this.warnings.push(
        `${others} further ${others === 1 ? 'word was' : 'words were'} taken for no part of the request.`,
      );
    return {
      url,
      method: this.#method,
      headers: this.#headers,
      data: this.#data,
      query: this.#query,
      dataAsQuery: this.#dataAsQuery,
      login: this.#login,
      credentials: this.#credentials,
      signature: this.#signature,
      scheme: this.#scheme,
      hasCookies: this.#cookies.length > 0,
      cookies: this.#cookies.length > 0 ? this.#cookies.join('; ') : undefined,
      variables: this.#variables,
      warnings: this.warnings,
    };
  }

  /** Reads `--name value`, and also `--name=value`, which curl does not have but people often write. */
  #long(word: string, next: () => string): void {
    const equals = word.indexOf('=');
    const name = equals < 0 ? word : word.slice(0, equals);
    const option = CURL_OPTIONS.get(name) ?? CURL_OPTIONS.get(name.replace(/^--no-/, '--'));
    if (option === undefined) this.#unknown(name);
    else if (!option.takesValue) this.#apply(name, option, '');
    else this.#apply(name, option, equals < 0 ? next() : word.slice(equals + 1));
  }

  /** Reads `-sSLXPOST`: flags in a row, the last may have its value right behind it. */
  #short(word: string, next: () => string): void {
    for (let at = 1; at < word.length; at++) {
      const name = `-${word[at] ?? ''}`;
      const option = CURL_OPTIONS.get(name);
      if (option === undefined) this.#unknown(name);
      else if (option.takesValue) {
        const attached = word.slice(at + 1);
        this.#apply(name, option, attached === '' ? next() : attached);
        return;
      } else this.#apply(name, option, '');
    }
  }

  #unknown(name: string): void {
    const near = name.startsWith('--') ? nearest(name, CURL_OPTIONS.keys()) : undefined;
    this.warnings.push(
      `The option ${name} is not known and was left out${near === undefined ? '' : `; did you mean ${near}?`}.`,
    );
  }

  #apply(name: string, { role, hint }: CurlOption, value: string): void {
    switch (role) {
      case 'method':
        this.#method = value;
        break;
      case 'data':
      case 'json':
        if (value.startsWith('@')) throw file(name);
        this.#data.push({ kind: role, text: value });
        break;
      case 'dataRaw':
        this.#data.push({ kind: 'data', text: value });
        break;
      case 'dataUrlencode':
        if (/^[^=]*@/.test(value)) throw file(name);
        this.#data.push({ kind: 'urlencode', text: value });
        break;
      case 'form':
        this.#data.push({ kind: 'form', text: formField(name, value) });
        break;
      case 'formString':
        this.#data.push({ kind: 'form', text: value });
        break;
      case 'header':
        this.#header(value);
        break;
      case 'agent':
        this.#headers.push(['User-Agent', value]);
        break;
      case 'user':
        this.#login = 'basic';
        this.#credentials = value;
        break;
      case 'bearer':
        this.#login = 'bearer';
        this.#credentials = value;
        break;
      case 'signature':
        this.#signature = value;
        break;
      case 'scheme':
        this.#scheme = name;
        break;
      case 'cookie':
        this.#cookies.push(value);
        break;
      case 'url':
        this.#urls.push(value);
        break;
      case 'query':
        this.#query.push(value);
        break;
      case 'literal':
        this.#isLiteral = true;
        break;
      case 'asQuery':
        this.#dataAsQuery = true;
        break;
      case 'reported':
        this.warnings.push(`${name} was left out. ${hint ?? ''}`.trim());
        break;
      case 'refused':
        throw refused(`A job cannot do what ${name} asks for.`, hint);
      case 'ignored':
        break;
    }
  }

  /**
   * Reads a header: `Name: value`, `Name;` for an empty one; `Name:` removes one of curl's own, which a job does not
   * send anyway.
   */
  #header(text: string): void {
    if (text.startsWith('@')) throw file('-H');
    const colon = text.indexOf(':');
    if (colon > 0) {
      const value = text.slice(colon + 1).trim();
      if (value !== '') this.#headers.push([text.slice(0, colon).trim(), value]);
    } else if (/^[^:;]+;$/.test(text)) this.#headers.push([text.slice(0, -1).trim(), '']);
    else this.warnings.push('A header without a colon was left out.');
  }
}

/** Reads a form field `name=value`; `;type=…` behind an unquoted value is dropped. */
function formField(name: string, text: string): string {
  const equals = text.indexOf('=');
  if (equals < 0) throw refused(`${name} needs name=value.`);
  const value = text.slice(equals + 1);
  if (/^[@<]/.test(value)) throw file(name);
  const quoted = /^"((?:[^"\\]|\\["\\])*)"(?:;.*)?$/.exec(value)?.[1]?.replace(/\\(["\\])/g, '$1');
  return `${text.slice(0, equals)}=${quoted ?? value.replace(/;\s*(?:type|filename|headers|encoder)=[^]*$/, '')}`;
}

function file(name: string): ActionError {
  return refused(
    `${name} refers to a file, which cannot be read from here.`,
    'Put its content into the command.',
  );
}

function refused(message: string, hint?: string): ActionError {
  return new ActionError('action.invalid', message, { hint });
}
