import { AuthorizationResponseError, validateAuthResponse } from 'oauth4webapi';
import { RunError } from '../../lib/errors.ts';
import { shownText } from '../../lib/shown-text.ts';

/**
 * Returns the code in the address that the browser came back with.
 *
 * @param state what the provider was given, and must have sent back
 * @throws {RunError} `auth.failed` when the provider refused, in its own words, or the answer is of another login
 */
export function codeOf(url: URL, state: string, clientId: string): string {
  const issuer = url.searchParams.get('iss') ?? 'https://issuer.invalid';
  let parameters: URLSearchParams;
  try {
    parameters = validateAuthResponse({ issuer }, { client_id: clientId }, url, state);
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw refused(error.error, error.error_description);
    throw strange(error);
  }
  const code = parameters.get('code');
  if (code === null || code === '') throw strange(undefined);
  return code;
}

/** The codes of RFC 6749 4.1.2.1, in words. */
const WORDS: Readonly<Record<string, string>> = {
  access_denied: 'The login was refused, by the person or by the provider.',
  invalid_scope: 'The provider does not know a scope that was asked for.',
  unauthorized_client: 'The provider does not let this client log people in.',
  invalid_request: 'The provider did not understand the request.',
  unsupported_response_type: 'The provider does not let this client use the authorization code.',
  server_error: 'The provider failed.',
  temporarily_unavailable: 'The provider is busy.',
};

const HINTS: Readonly<Record<string, string>> = {
  invalid_scope: 'Correct "scope" of the authentication.',
  invalid_request: 'Check "authorizationParams"; a provider that does not know PKCE needs "pkce": false.',
  unauthorized_client: 'See which grants the client has where it is registered.',
};

function refused(code: string, description: string | undefined): RunError {
  const said = description === undefined || description === '' ? code : `${code}: ${description}`;
  return new RunError(
    'auth.failed',
    `${WORDS[code] ?? 'The provider did not log in.'} It says “${shownText(said)}”.`,
    {
      hint: HINTS[code] ?? 'Log in once more.',
    },
  );
}

function strange(cause: unknown): RunError {
  return new RunError(
    'auth.failed',
    'What the browser came back with is no answer to this login: its state is another, or something is missing.',
    {
      hint: 'Use the newest address, once: begin the login anew.',
      cause,
    },
  );
}
