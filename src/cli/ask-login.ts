import type { Advice } from '../storage/protocol/advice.ts';

/** Asks a person for a line; what is secret is not shown as it is typed. An empty answer ends the questions. */
export type LoginPrompt = (question: string, options: { readonly isSecret: boolean }) => Promise<string>;

type Login = Extract<Advice, { readonly code: 'login' }>;

const KINDS = ['bearer', 'basic', 'header', 'query', 'client', 'person'] as const;
type Kind = (typeof KINDS)[number];

const LIST = `How does the API log in?
  1 a token (Authorization: Bearer …)
  2 user name and password
  3 a key in a header
  4 a key in the query
  5 a client with a secret, which fetches tokens (OAuth client credentials)
  6 a person in the browser (OAuth authorization code)
Number, or nothing to leave it: `;

/**
 * Asks for the login that an API wants, in a few questions; what the API says of it is not asked.
 *
 * @returns a login as `--auth` has it; undefined where an answer is empty
 */
export async function askLogin(advice: Login, ask: LoginPrompt): Promise<string | undefined> {
  const said = advice.kind === 'basic' ? 'basic' : advice.header === undefined ? undefined : 'header';
  // a bearer token may be at hand, or be fetched by a client
  const kind = said ?? kindOf(await line(LIST));
  switch (kind) {
    case undefined:
      return undefined;
    case 'bearer':
      return joined`bearer:${await secret('Token: ')}`;
    case 'basic':
      return joined`basic:${await line('User name: ')}:${await secret('Password: ')}`;
    case 'header':
      return joined`header:${advice.header ?? (await line('Name of the header, such as X-Api-Key: '))}=${await secret('Key: ')}`;
    case 'query':
      return joined`query:${await line('Name of the parameter, such as api_key: ')}=${await secret('Key: ')}`;
    case 'client':
      return joined`client:${await line('Client id: ')}:${await secret('Client secret: ')}@${await line('Address of the tokens, such as https://id.example.com/token: ')}`;
    case 'person': {
      const client = joined`person:${await line('Client id: ')}:`;
      if (client === undefined) return undefined;
      // a client without a secret is a public one
      const its = await secret('Client secret, or nothing where it has none: ');
      const page =
        advice.authorizationUrl ??
        (await line('Address of the login page, such as https://id.example.com/authorize: '));
      const addresses = joined`@${page},${await line('Address of the tokens, such as https://id.example.com/token: ')}`;
      if (addresses === undefined) return undefined;
      const scope = await line('Scopes, with spaces between, or nothing: ');
      return `${client}${its}${addresses}${scope === '' ? '' : `,${scope}`}`;
    }
    default:
      return kind satisfies never;
  }

  async function line(question: string): Promise<string> {
    return (await ask(question, { isSecret: false })).trim();
  }

  async function secret(question: string): Promise<string> {
    return (await ask(question, { isSecret: true })).trim();
  }
}

function kindOf(answer: string): Kind | undefined {
  return KINDS[Number(answer) - 1];
}

/** The text with its values; undefined where one of them is empty. */
function joined(parts: TemplateStringsArray, ...values: readonly string[]): string | undefined {
  return values.includes('') ? undefined : String.raw({ raw: parts.raw }, ...values);
}
