import { API, stream, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

/** Streams that send lists. */
export const LIST_CASES: readonly TwoRuns[] = [
  {
    name: 'each item of a list is a parameter of its own',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: {
          a: "{{ config['list'] }}",
          b: "{{ ['x', 'y'] | string }}",
          c: "['p', 'q']",
          d: "{{ config['list'] | join(',') }}",
        },
      },
    }),
    settings: { list: ['x', 'y'] },
    api: () => [{ id: 1 }],
    asks: both('GET /a?a=x&a=y&b=["x",+"y"]&c=p&c=q&d=x,y'),
  },
  {
    name: 'and so in a form',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST', request_body_data: { a: "{{ config['list'] }}" } },
    }),
    settings: { list: ['x', 'y'] },
    api: () => [{ id: 1 }],
    asks: both('POST /a application/x-www-form-urlencoded a=x&a=y'),
  },
  {
    name: 'a list of scopes',
    stream: stream('items', '/a', {
      requester: {
        authenticator: {
          type: 'OAuthAuthenticator',
          token_refresh_endpoint: `${API}/token`,
          client_id: 'c',
          client_secret: 's',
          refresh_token: 'r',
          scopes: ['x', 'y'],
        },
      },
    }),
    api: ({ pathname }) => (pathname === '/token' ? { access_token: 'T', expires_in: 3600 } : [{ id: 1 }]),
    asks: both(
      'GET /a Bearer T',
      'POST /token application/x-www-form-urlencoded client_id=c&client_secret=s&grant_type=refresh_token&refresh_token=r&scopes=x&scopes=y',
    ),
  },
];
