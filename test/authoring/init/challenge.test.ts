import { describe, expect, test } from 'vitest';
import { challengeIn } from '../../../src/authoring/init/challenge.ts';

describe('what an API asks for by WWW-Authenticate', () => {
  test.each<[string, object]>([
    ['Basic realm="shop"', { kind: 'basic' }],
    ['bearer', { kind: 'bearer' }],
    ['Bearer realm="Token (bearer), Basic"', { kind: 'bearer' }],
    ['Digest realm="a", nonce="b", Basic realm="shop"', { kind: 'basic' }],
    ['Negotiate, Basic realm="shop"', { kind: 'basic' }],
    ['Negotiate', { kind: 'other' }],
    ['Digest realm="a, b", qop="auth", nonce="c"', { kind: 'other' }],
    ['Bearer error="insufficient_scope", scope="read write"', { kind: 'oauth' }],
    [
      'Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"',
      { kind: 'oauth' },
    ],
    [
      'Bearer realm="", authorization_uri="https://login.example.com/authorize", client_id="1"',
      { kind: 'oauth', authorizationUrl: 'https://login.example.com/authorize' },
    ],
    ['Bearer authorization_uri="javascript:alert(1)"', { kind: 'oauth' }],
    ['Token realm="x"', {}],
    ['', {}],
    [`Basic ${',a='.repeat(20_000)}`, { kind: 'basic' }],
  ])('%.60s', (header, expected) => {
    expect(challengeIn(header)).toEqual(expected);
  });

  test('nothing', () => {
    expect(challengeIn(undefined)).toEqual({});
  });
});
