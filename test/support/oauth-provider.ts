import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { json } from '../cli/support.ts';

export interface ProviderOptions {
  /** Each refresh token is taken once. Default: true. */
  readonly rotates?: boolean;
  /** Seconds that an access token holds. Default: 0, which is expired at once. */
  readonly expiresIn?: number;
  /** True when a code is only exchanged with its PKCE verifier. Default: true. */
  readonly needsPkce?: boolean;
  /** Called when a refresh was taken, before it is answered. */
  readonly beforeAnswer?: (count: number) => Promise<void> | void;
  /** Parameters that the provider redirects the browser back with, in place of a code. */
  readonly refuses?: Record<string, string>;
  /** Changes the answer of the token endpoint: to another object, or to a text that is no JSON. */
  readonly answer?: (issued: object, grant: string) => object | Promise<object | string> | string;
}

export interface Provider {
  /** With a slash at its end. An API below it gives one row to the newest access token, but for `broken`. */
  readonly url: string;
  /** Requests so far: `token r0`, `GET /books a1`, `code`. */
  readonly seen: readonly string[];
  /** The refresh token that is taken next. */
  readonly current: () => string;
  /** Takes the login back: neither token is taken any more. */
  readonly revoke: () => void;
}

/** An OAuth 2.0 provider and an API behind it on loopback, until the end of the test file. The first refresh token is `r0`. */
export async function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  const { rotates = true, expiresIn = 0, needsPkce = true } = options;
  const seen: string[] = [];
  const codes = new Map<string, { readonly challenge: string | null; readonly redirectUri: string | null }>();
  let count = 0;
  let current = 'r0';
  const issue = (): object => {
    count++;
    if (rotates) current = `r${count}`;
    return { access_token: `a${count}`, refresh_token: current, expires_in: expiresIn, token_type: 'Bearer' };
  };
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (url.pathname === '/authorize') {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        const state = url.searchParams.get('state') ?? '';
        const code = `code-${codes.size + 1}`;
        codes.set(code, {
          challenge: url.searchParams.get('code_challenge'),
          redirectUri: url.searchParams.get('redirect_uri'),
        });
        for (const [key, value] of Object.entries({ ...(options.refuses ?? { code }), state }))
          back.searchParams.set(key, value);
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      if (url.pathname === '/token') {
        const form = new URLSearchParams(await text(request));
        if (form.get('grant_type') === 'authorization_code') {
          const known = codes.get(form.get('code') ?? '');
          const challenge = createHash('sha256')
            .update(form.get('code_verifier') ?? '')
            .digest('base64url');
          seen.push('code');
          const isGood =
            known !== undefined &&
            known.redirectUri === form.get('redirect_uri') &&
            (needsPkce ? challenge === known.challenge : known.challenge === null);
          if (!isGood) {
            json(response, { error: 'invalid_grant' }, 400);
            return;
          }
          codes.delete(form.get('code') ?? '');
          const issued = issue();
          send(response, (await options.answer?.(issued, 'code')) ?? issued);
          return;
        }
        seen.push(`token ${form.get('refresh_token')}`);
        if (form.get('refresh_token') !== current) {
          json(response, { error: 'invalid_grant', error_description: 'this token was used' }, 400);
          return;
        }
        const issued = issue();
        await options.beforeAnswer?.(count);
        send(response, (await options.answer?.(issued, 'refresh')) ?? issued);
        return;
      }
      const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
      seen.push(`${request.method} ${url.pathname} ${token}`);
      json(response, [{ id: 1 }], token !== `a${count}` ? 401 : url.pathname === '/broken' ? 404 : 200);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const revoke = (): void => {
    current = 'revoked';
    count++;
  };
  return { url: `http://127.0.0.1:${port}/`, seen, current: () => current, revoke };
}

/** A configuration over it. */
export function providerConfig(
  { url }: Provider,
  more: object = {},
  jobs: readonly object[] = [{ endpoint: 'books' }],
): object {
  return {
    parameters: {
      api: {
        baseUrl: url,
        authentication: {
          type: 'oauth20.refreshToken',
          tokenUrl: `${url}token`,
          clientId: 'shop',
          '#clientSecret': 'hush-hush',
          '#refreshToken': 'r0',
          ...more,
        },
        retryConfig: { maxRetries: 0 },
      },
      config: { jobs },
    },
  };
}

function send(response: ServerResponse, answer: object | string): void {
  if (typeof answer === 'string') response.end(answer);
  else json(response, answer);
}
