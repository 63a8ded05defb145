import type { SecureContext } from 'node:tls';
import { HttpError } from '../../../lib/errors.ts';
import { tls } from './runtime.ts';

export interface TlsSettings {
  /** `api.caCertificate`: PEM, one or more authorities; they take the place of the system's. */
  readonly caCertificate?: string | undefined;
  /** `api.#clientCertificate`: PEM, the certificate (and its chain) followed by its unencrypted private key. */
  readonly clientCertificate?: string | undefined;
}

/**
 * Creates the TLS context: trusts the given authorities, else those of the runtime and of the system, and has the
 * client's certificate.
 *
 * @throws {HttpError} `http.tls` when a certificate or key cannot be read
 */
export function secureContextOf(settings: TlsSettings): SecureContext {
  const { caCertificate, clientCertificate } = settings;
  if (caCertificate !== undefined && !caCertificate.includes('-----BEGIN'))
    throw unreadable(
      'api.caCertificate',
      'is not a certificate in PEM form',
      caCertificate === '' ? 'application' : 'user',
    );
  const client = clientCertificate === undefined ? {} : { cert: clientCertificate, key: clientCertificate };
  try {
    return tls().createSecureContext({
      ca: caCertificate ?? usualAuthorities(),
      // As curl does: what is given is trusted, be it the root, an authority below it or the server's own certificate.
      allowPartialTrustChain: caCertificate !== undefined,
      ...client,
    });
  } catch (cause) {
    const path = clientCertificate === undefined ? 'api.caCertificate' : 'api.#clientCertificate';
    throw unreadable(path, `cannot be used: ${(cause as Error).message}`, 'user', cause);
  }
}

/**
 * Returns the authorities for a connection to an https proxy: the usual ones, and those given for the API. The client
 * certificate is for the API alone, and the proxy does not get it.
 */
export function proxyContextOf({ caCertificate }: TlsSettings): SecureContext {
  const given = caCertificate === undefined ? [] : [caCertificate];
  return tls().createSecureContext({
    ca: [...usualAuthorities(), ...given],
    allowPartialTrustChain: caCertificate !== undefined,
  });
}

/**
 * Returns the runtime's authorities and the system's: certificates of a company proxy are often trusted by the system
 * alone.
 */
function usualAuthorities(): string[] {
  const { getCACertificates } = tls();
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
}

function unreadable(
  path: string,
  what: string,
  audience: 'user' | 'application',
  cause?: unknown,
): HttpError {
  return new HttpError('http.tls', `${path} ${what}.`, {
    audience,
    cause,
    where: { path: `parameters.${path}` },
    hint: path.includes('#')
      ? 'Give the certificate and, below it, its private key without a passphrase, both in PEM form.'
      : 'Give the text of a PEM file: it starts with -----BEGIN CERTIFICATE-----.',
  });
}
