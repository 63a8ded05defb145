import {
  entriesOf,
  getKey,
  isList,
  isObject,
  keysOf,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { textAt, type ApiDocument } from './document.ts';

/** How to log in, by what a document says. */
export interface DescribedLogin {
  readonly authentication: AnyObject | undefined;
  /** Attributes for the configuration, beside the jobs. */
  readonly attributes: AnyObject;
  /** Variables of the environment that it refers to. */
  readonly variables: readonly string[];
  readonly notes: readonly string[];
}

/** Returns the first of the required schemes that a configuration can express. */
export function loginOf(document: ApiDocument, required: Json | undefined): DescribedLogin {
  const schemes =
    document.version === 2
      ? document.object(document.root, 'securityDefinitions')
      : document.object(document.object(document.root, 'components') ?? {}, 'securitySchemes');
  if (schemes === undefined) return NONE;
  const wanted = namesIn(required ?? getKey(document.root, 'security'));
  const names = wanted ?? keysOf(schemes);
  if (names.length === 0) return NONE;
  for (const name of names) {
    const scheme = document.object(schemes, name);
    const login = scheme === undefined ? undefined : ofScheme(scheme, document);
    if (login !== undefined) return login;
  }
  return {
    ...NONE,
    notes: [
      `The login (${names.join(', ')}) is of a kind that the document does not describe far enough: set \`api.authentication\`.`,
    ],
  };
}

const NONE: DescribedLogin = { authentication: undefined, attributes: {}, variables: [], notes: [] };

function namesIn(security: Json | undefined): readonly string[] | undefined {
  if (!isList(security)) return undefined;
  // an empty requirement beside others means that the login may be left out
  return security.flatMap((each) => (isObject(each) ? keysOf(each) : []));
}

function ofScheme(scheme: AnyObject, document: ApiDocument): DescribedLogin | undefined {
  const type = textAt(scheme, 'type')?.toLowerCase();
  const kind = textAt(scheme, 'scheme')?.toLowerCase();
  if (type === 'basic' || (type === 'http' && kind === 'basic'))
    return {
      ...NONE,
      authentication: { type: 'basic' },
      attributes: objectOf([
        ['#username', '$env:API_USER'],
        ['#password', '$env:API_PASSWORD'],
      ]),
      variables: ['API_USER', 'API_PASSWORD'],
    };
  if (type === 'http' && kind === 'bearer') return bearer([]);
  if (type === 'apikey') {
    const [name, place] = [textAt(scheme, 'name'), textAt(scheme, 'in')];
    if (name === undefined || place === 'cookie') return undefined;
    if (name.toLowerCase() === 'authorization' && /bearer/i.test(textAt(scheme, 'description') ?? ''))
      return bearer([]);
    return {
      ...NONE,
      authentication: {
        type: 'apiKey',
        ...(place === 'query' ? { in: 'query' } : {}),
        name,
        '#key': '$env:API_KEY',
      },
      variables: ['API_KEY'],
    };
  }
  if (type === 'oauth2') return ofOauth(scheme, document);
  return type === 'openidconnect'
    ? bearer(['The API logs in by OpenID Connect: put an access token into $API_TOKEN.'])
    : undefined;
}

function ofOauth(scheme: AnyObject, document: ApiDocument): DescribedLogin {
  const flows = document.object(scheme, 'flows');
  const flow =
    flows === undefined
      ? textAt(scheme, 'flow') === 'application'
        ? scheme
        : undefined
      : document.object(flows, 'clientCredentials');
  const tokenUrl = textAt(flow, 'tokenUrl');
  const byPerson = flow === undefined ? ofPerson(scheme, flows, document) : undefined;
  if (byPerson !== undefined) return byPerson;
  if (flow === undefined || tokenUrl === undefined)
    return bearer([
      'The API logs in by OAuth 2.0 for a person: put an access token into $API_TOKEN, or set `api.authentication`.',
    ]);
  const scope = scopesOf(flow, document);
  return {
    ...NONE,
    authentication: {
      type: 'oauth20.clientCredentials',
      tokenUrl,
      '#clientId': '$env:API_CLIENT_ID',
      '#clientSecret': '$env:API_CLIENT_SECRET',
      ...(scope === '' ? {} : { scope }),
    },
    variables: ['API_CLIENT_ID', 'API_CLIENT_SECRET'],
    notes:
      scope === ''
        ? []
        : ['All scopes of the document are asked for: take away those that the login has not.'],
  };
}

/** Returns the login of a person in the browser, by the authorization code grant. */
function ofPerson(
  scheme: AnyObject,
  flows: AnyObject | undefined,
  document: ApiDocument,
): DescribedLogin | undefined {
  const isCode = /^(?:accessCode|authorizationCode)$/.test(textAt(scheme, 'flow') ?? '');
  const flow =
    flows === undefined ? (isCode ? scheme : undefined) : document.object(flows, 'authorizationCode');
  const [authorizationUrl, tokenUrl] = [textAt(flow, 'authorizationUrl'), textAt(flow, 'tokenUrl')];
  if (flow === undefined || authorizationUrl === undefined || tokenUrl === undefined) return undefined;
  const scope = scopesOf(flow, document);
  return {
    ...NONE,
    authentication: {
      type: 'oauth20.refreshToken',
      authorizationUrl,
      tokenUrl,
      '#clientId': '$env:API_CLIENT_ID',
      '#clientSecret': '$env:API_CLIENT_SECRET',
      ...(scope === '' ? {} : { scope }),
    },
    variables: ['API_CLIENT_ID', 'API_CLIENT_SECRET'],
    notes: [
      'A person logs in: gex login opens the browser, or “Log in” in the console, and the login is kept for runs. Register the client with the API first.',
      ...(scope === ''
        ? []
        : ['All scopes of the document are asked for: take away those that the login has not.']),
    ],
  };
}

function scopesOf(flow: AnyObject, document: ApiDocument): string {
  const scopes = document.object(flow, 'scopes');
  return scopes === undefined
    ? ''
    : entriesOf(scopes)
        .map(([name]) => name)
        .join(' ');
}

function bearer(notes: readonly string[]): DescribedLogin {
  return {
    ...NONE,
    authentication: { type: 'bearer', '#token': '$env:API_TOKEN' },
    variables: ['API_TOKEN'],
    notes,
  };
}
