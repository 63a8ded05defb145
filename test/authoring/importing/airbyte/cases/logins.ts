import { generateKeyPairSync } from 'node:crypto';
import { API, stream, type MockAnswer, type Part, type TwoRuns } from '../../support/two-runs.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const withLogin = (authenticator: Part): Part =>
  stream('items', '/a', {
    requester: {
      authenticator: { type: 'OAuthAuthenticator', token_refresh_endpoint: `${API}/token`, ...authenticator },
    },
  });

const client = { client_id: 'c', client_secret: 's', refresh_token: 'r' };
const tokens: MockAnswer = ({ pathname }) =>
  pathname === '/token' ? { access_token: 'T', refresh_token: 'r2', expires_in: 3600 } : [{ id: 1 }];
const FORM = 'POST /token application/x-www-form-urlencoded';

const REFRESHED = [
  'GET /a Bearer T',
  `${FORM} client_id=c&client_secret=s&grant_type=refresh_token&refresh_token=r1`,
];

// what came is kept for the next run
const REFRESHED_ONCE: TwoRuns['asks'] = [REFRESHED, ['GET /a Bearer T']];

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

/** Streams whose tokens are fetched. */
export const LOGIN_CASES: readonly TwoRuns[] = [
  ...[
    {
      name: 'an access token of the settings, until it ends',
      ends: '2100-01-01T00:00:00Z',
      asks: both('GET /a Bearer held'),
    },
    {
      name: 'an access token of the settings that has ended',
      ends: '2001-01-01T00:00:00Z',
      asks: REFRESHED_ONCE,
    },
    { name: 'an access token of the settings whose end is empty', ends: '', asks: REFRESHED_ONCE },
  ].map(({ name, ends, asks }) => ({
    name,
    stream: withLogin({
      ...client,
      refresh_token_updater: {
        access_token_config_path: ['held'],
        token_expiry_date_config_path: ['ends'],
        refresh_token_config_path: ['login', 'token'],
      },
    }),
    settings: { held: 'held', ends, login: { token: 'r1' } },
    api: tokens,
    asks,
  })),
  {
    name: 'a token for a signed one',
    stream: withLogin({
      use_profile_assertion: true,
      refresh_request_headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      profile_assertion: {
        type: 'JwtAuthenticator',
        algorithm: 'RS256',
        secret_key: "{{ json_loads(config['account'])['private_key'] }}",
        token_duration: 3600,
        jwt_payload: { iss: "{{ json_loads(config['account'])['client_email'] }}" },
        additional_jwt_payload: { scope: 'read' },
      },
    }),
    settings: { account: JSON.stringify({ private_key: KEY, client_email: 'robot@example.com' }) },
    api: tokens,
    asks: both(
      'GET /a Bearer T',
      `${FORM} assertion={"exp":1719840600,"iat":1719837000,"iss":"robot@example.com","nbf":1719837000,"scope":"read"}&grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer`,
    ),
  },
  {
    name: 'a form whose header tells another type',
    stream: withLogin({ ...client, refresh_request_headers: { 'Content-Type': 'application/json' } }),
    api: tokens,
    asks: both(
      'GET /a Bearer T',
      'POST /token application/json client_id=c&client_secret=s&grant_type=refresh_token&refresh_token=r',
    ),
  },
  {
    name: 'credentials in a header are in no body',
    stream: withLogin({
      ...client,
      refresh_request_headers: { Authorization: "Basic {{ ('c' ~ ':' ~ 's') | base64encode }}" },
    }),
    api: tokens,
    asks: both('GET /a Bearer T', `${FORM} grant_type=refresh_token&refresh_token=r Basic Yzpz`),
  },
  {
    name: 'what every token is asked with wins over further parameters',
    stream: withLogin({ ...client, refresh_request_body: { client_id: 'other', audience: 'x' } }),
    api: tokens,
    asks: both(
      'GET /a Bearer T',
      `${FORM} audience=x&client_id=c&client_secret=s&grant_type=refresh_token&refresh_token=r`,
    ),
  },
];
