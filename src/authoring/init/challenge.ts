import type { Advice } from '../../storage/protocol/advice.ts';
import { isHttpUrl } from '../../engine/http/url.ts';

type Login = Extract<Advice, { readonly code: 'login' }>;

/** Login that an API asks for by `WWW-Authenticate`. */
export type Challenge = Pick<Login, 'authorizationUrl' | 'kind'>;

/**
 * Reads the challenges of a refusal (RFC 9110 11.6.1): several may stand in one header, and the first that a configuration
 * can answer counts. A bearer token comes from an authorization server where the challenge speaks of one: `resource_metadata`
 * (RFC 9728), `authorization_uri`, or a missing scope (RFC 6750 3.1).
 */
export function challengeIn(header: string | undefined): Challenge {
  const challenges = [...(header ?? '').matchAll(SCHEME)].map((found, i, all) => ({
    scheme: (found[1] ?? '').toLowerCase(),
    rest: (header ?? '').slice(found.index, all[i + 1]?.index),
  }));
  for (const { scheme, rest } of challenges) {
    if (scheme === 'basic') return { kind: 'basic' };
    if (scheme !== 'bearer' && scheme !== 'oauth') continue;
    const authorizationUrl = /\bauthorization_uri\s*=\s*"?([^",\s]+)/i.exec(rest)?.[1];
    const isOauth =
      scheme === 'oauth' || authorizationUrl !== undefined || /\b(?:resource_metadata|scope)\s*=/i.test(rest);
    return {
      kind: isOauth ? 'oauth' : 'bearer',
      ...(authorizationUrl !== undefined && isHttpUrl(authorizationUrl) ? { authorizationUrl } : {}),
    };
  }
  return UNANSWERED.test(challenges[0]?.scheme ?? '') ? { kind: 'other' } : {};
}

/** The name of a scheme: at the beginning or after a comma, and no parameter, which an equals sign follows. */
const SCHEME = /(?:^|,)\s*([a-z][\w-]*)(?=\s+[^\s=,]|\s*(?:,|$))(?!\s*=)/gi;

const UNANSWERED = /^(?:digest|negotiate|ntlm|hawk|mutual|scram-.*|dpop|gnap)$/;
