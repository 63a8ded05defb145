import type { Advice } from '../../storage/protocol/advice.ts';
import { RunError } from '../../lib/errors.ts';
import { entriesOf, isObject, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import { isSecretName } from '../../lib/secrets.ts';
import type { SecretStore } from './secret-store.ts';
import { percentDecoded } from '../../lib/percent.ts';

type Header = readonly [name: string, value: string];

/** Finds what logs in, and turns it into settings that refer to it. */
export class FoundCredentials {
  readonly #vault: SecretStore;
  readonly notes: string[] = [];
  #authentication: AnyObject | undefined;
  readonly #secretHeaders = new Map<string, Json>();
  readonly #attributes = new Map<string, Json>();

  constructor(vault: SecretStore) {
    this.#vault = vault;
  }

  get authentication(): AnyObject | undefined {
    return this.#authentication;
  }

  get secretHeaders(): AnyObject {
    return objectOf(this.#secretHeaders);
  }

  get attributes(): AnyObject {
    return objectOf(this.#attributes);
  }

  /** Takes user and password in front of the host. */
  fromAddress(url: string): void {
    const user = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^@/?#]*)@/i.exec(url)?.[1];
    if (user !== undefined && user !== '') this.login('basic', percentDecoded(user));
  }

  /** Takes the secrets out of headers, and gives back the others. */
  fromHeaders(headers: readonly Header[]): Header[] {
    return headers.filter(([name, value]) => {
      const lower = name.toLowerCase();
      if (lower === 'authorization') this.#authorization(value);
      else if (lower === 'cookie') this.cookie(value);
      else if (lower === 'proxy-authorization')
        this.notes.push('The login at the proxy was left out: proxies are set by the environment.');
      else if (isSecretName(name) || /^x-(?:csrf|xsrf)-/.test(lower)) this.#key(name, value, 'header');
      else return true;
      return false;
    });
  }

  /** Reads `--header 'Name: value'`. */
  fromLines(lines: readonly string[]): Header[] {
    const headers = lines.map((line): Header => {
      const colon = line.indexOf(':');
      if (colon > 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      const advice: Advice = { code: 'headerForm' };
      throw new RunError('command.invalid', 'A header that was given has no colon.', { details: { advice } });
    });
    return this.fromHeaders(headers).filter(([name, value]) => {
      if (!/^\$(?:env:)?[{A-Za-z_]/.test(value)) return true;
      this.#key(name, value, 'header');
      return false;
    });
  }

  /** `bearer:…`, `basic:user:password`, `header:Name=…`, `query:name=…`, `client:id:secret@token-address`, `person:…`. */
  fromOption(text: string): void {
    const [, kind = '', rest = ''] = /^([a-z]+):([^]*)$/i.exec(text) ?? [];
    const equals = rest.indexOf('=');
    this.#authentication = undefined;
    if (kind === 'bearer' && rest !== '') this.login('bearer', rest);
    else if (kind === 'basic' && rest.includes(':')) this.login('basic', rest);
    else if (kind === 'client' && CLIENT.test(rest)) this.#client(rest);
    else if (kind === 'person' && PERSON.test(rest)) this.#person(rest);
    else if ((kind === 'header' || kind === 'query') && equals > 0 && equals < rest.length - 1)
      this.#key(rest.slice(0, equals), rest.slice(equals + 1), kind);
    else {
      const advice: Advice = { code: 'loginForm', isEmpty: rest === '' && kind !== '' };
      throw new RunError('command.invalid', 'The login that was given cannot be understood.', {
        details: { advice },
      });
    }
  }

  login(kind: 'basic' | 'bearer', secret: string): void {
    if (kind === 'bearer') {
      this.#set({ type: 'bearer', '#token': this.#vault.keep(secret, 'API_TOKEN') });
      return;
    }
    const colon = secret.indexOf(':');
    const user = colon < 0 ? secret : secret.slice(0, colon);
    const password = colon < 0 ? '' : secret.slice(colon + 1);
    this.#set({ type: 'basic' });
    // a key as the user name with no password is common: it is the secret then
    const isKey = password === '' || password === 'x' || password === 'X';
    if (isKey || user.startsWith('$')) this.#attributes.set('#username', this.#vault.keep(user, 'API_USER'));
    else this.#attributes.set('username', user);
    if (password !== '') this.#attributes.set('#password', this.#vault.keep(password, 'API_PASSWORD'));
    else this.#attributes.set('#password', '');
  }

  /** Takes the id and the secret of a client, which fetches tokens. */
  #client(given: string): void {
    const [, id = '', secret = '', tokenUrl = ''] = CLIENT.exec(given) ?? [];
    this.#set({
      type: 'oauth20.clientCredentials',
      tokenUrl,
      ...(id.startsWith('$') ? { '#clientId': this.#vault.keep(id, 'API_CLIENT_ID') } : { clientId: id }),
      '#clientSecret': this.#vault.keep(secret, 'API_CLIENT_SECRET'),
    });
  }

  /** Takes the client by which a person logs in, in the browser. */
  #person(given: string): void {
    const [, id = '', secret = '', authorizationUrl = '', tokenUrl = '', scope] = PERSON.exec(given) ?? [];
    this.#set({
      type: 'oauth20.refreshToken',
      authorizationUrl,
      tokenUrl,
      ...(id.startsWith('$') ? { '#clientId': this.#vault.keep(id, 'API_CLIENT_ID') } : { clientId: id }),
      ...(secret === '' ? {} : { '#clientSecret': this.#vault.keep(secret, 'API_CLIENT_SECRET') }),
      ...(scope === undefined ? {} : { scope }),
    });
  }

  cookie(value: string): void {
    this.#attributes.set('#cookie', this.#vault.keep(value, 'API_COOKIE'));
    this.#secretHeaders.set('Cookie', { attr: '#cookie' });
    this.notes.push(
      'The cookies of the command are sent, as the secret `#cookie`: they end with the session of the browser. A key or a token of the API lasts longer.',
    );
  }

  /** Parameters without their secrets: a key in the query is a login, others are attributes. */
  fromParams(params: AnyObject, isQuery: boolean): AnyObject {
    return objectOf(
      entriesOf(params).flatMap(([name, value]): [string, Json][] => {
        if (isObject(value)) return [[name, this.fromParams(value, false)]];
        if (typeof value !== 'string' || value === '' || !isSecretName(name)) return [[name, value]];
        // the key of a row, and no key of an API
        if (!isQuery && /^key$/i.test(name) && value.length < SHORT) return [[name, value]];
        if (isQuery && this.#authentication === undefined) {
          this.#key(name, value, 'query');
          return [];
        }
        const attribute = `#${name.replace(/[^\w-]+/g, '_')}`;
        this.#attributes.set(attribute, this.#vault.keep(value, `API_${name}`));
        return [[name, { attr: attribute }]];
      }),
    );
  }

  #authorization(value: string): void {
    const [, scheme = '', rest = ''] = /^(\S+)\s+([^]+)$/.exec(value) ?? [];
    if (/^bearer$/i.test(scheme)) this.login('bearer', rest);
    else if (/^basic$/i.test(scheme)) this.login('basic', Buffer.from(rest, 'base64').toString('utf8'));
    else if (scheme !== '' && !/[=,]/.test(rest))
      this.#set({
        type: 'apiKey',
        name: 'Authorization',
        '#key': this.#vault.keep(rest, 'API_TOKEN'),
        prefix: `${scheme} `,
      });
    else this.#key('Authorization', value, 'header');
  }

  #key(name: string, value: string, place: 'header' | 'query'): void {
    const variable =
      name.toLowerCase() === 'authorization'
        ? 'API_TOKEN'
        : /api/i.test(name)
          ? name
          : `API_${name.replace(/^x-/i, '')}`;
    const isSet = this.#authentication === undefined;
    const key = this.#vault.keep(value, variable);
    if (isSet) {
      this.#set({ type: 'apiKey', ...(place === 'query' ? { in: 'query' } : {}), name, '#key': key });
      return;
    }
    if (place === 'query') {
      this.notes.push(
        `The parameter ${name} is a second login, and was left out: add it to the configuration.`,
      );
      return;
    }
    const attribute = `#${name}`;
    this.#attributes.set(attribute, key);
    this.#secretHeaders.set(name, { attr: attribute });
  }

  /** Sets the authentication, in place of an earlier one. */
  #set(authentication: AnyObject): void {
    for (const name of ['username', '#username', '#password']) this.#attributes.delete(name);
    this.#authentication = authentication;
  }
}

/** Returns the secret of a login that is written as in `--auth`. */
export function secretIn(auth: string): string | undefined {
  const plain = /^(?:bearer:|basic:[^:]*:|(?:header|query):[^=]*=)([^]*)$/i.exec(auth)?.[1];
  const rest = auth.replace(/^[a-z]+:/i, '');
  return plain ?? CLIENT.exec(rest)?.[2] ?? PERSON.exec(rest)?.[2];
}

const CLIENT = /^([^:]+):(.+)@(https?:\/\/[^@\s]+)$/;

/** The addresses of the login page and of the tokens, and the scopes. */
const PERSON = /^([^:]+):(.*)@(https?:\/\/[^@\s,]+),(https?:\/\/[^@\s,]+)(?:,(.+))?$/;

/** A key of an API has more characters. */
const SHORT = 12;
