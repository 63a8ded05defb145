import { getCACertificates } from 'node:tls';
import { percentDecoded } from '../../../lib/percent.ts';
import { VERSION } from '../../../lib/version.ts';
import type { AlertBody, AlertSource } from './message.ts';

/** Mail server of a service. */
export interface MailOptions {
  /** `smtps://user:password@mail.example.com`, or `smtp://`, which goes on under TLS; only loopback is without. */
  readonly url: string;
  /** Address that messages are from. */
  readonly from: string;
  /** Certificates of authorities to trust beside those that the program trusts, as PEM. */
  readonly ca?: string | undefined;
}

/** A mail as it is sent: text, and no HTML. */
interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail. @returns the answer of the server, in words */
export type SendMail = (to: readonly string[], body: AlertBody, signal: AbortSignal) => Promise<string>;

const SECOND_MS = 1000;
const TIMEOUT_MS = 10 * SECOND_MS;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/;

/** Makes what sends mails. Its library is loaded for the first one. */
export function createMailer({ url, from, ca }: MailOptions): SendMail {
  const { protocol, hostname, port, username, password } = new URL(url);
  return async (to, body, signal) => {
    const { createTransport } = await import('nodemailer');
    const isSecure = protocol === 'smtps:';
    const transport = createTransport({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isSecure ? 465 : 587) : Number(port),
      secure: isSecure,
      // Without it, whoever stands between could take the offer of TLS out of the greeting.
      requireTLS: !isSecure && !LOOPBACK.test(hostname),
      ...(ca === undefined ? {} : { tls: { ca: [...getCACertificates('default'), ca] } }),
      ...(username === ''
        ? {}
        : { auth: { user: percentDecoded(username), pass: percentDecoded(password) } }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const close = (): void => transport.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      const { response } = await transport.sendMail({
        from,
        to: [...to],
        ...mailOf(body),
        // A mail that is sent twice has one id: mail boxes show it once.
        messageId: `<${body.id}@${from.split('@').at(-1)?.replace(/>$/, '')}>`,
        headers: {
          'X-Gex-Message': body.id,
          'X-Mailer': `generic-extractor/${VERSION}`,
          'Auto-Submitted': 'auto-generated',
        },
      });
      return response;
    } catch (error) {
      throw withAdvice(error);
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
  };
}

/** Words of TLS for a certificate that no trusted authority stands behind. */
const UNTRUSTED =
  /self[- ]signed certificate|unable to (?:verify the first certificate|get (?:local )?issuer certificate)/i;

/** Adds to a refused certificate what to do, as the message of an alert is all that its owner sees. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message } = error;
  const advice = UNTRUSTED.test(message)
    ? 'No authority that this service trusts has signed the certificate of the mail server: give the certificate of its authority with --smtp-ca.'
    : /certificate has expired|certificate is not yet valid/i.test(message)
      ? 'The certificate of the mail server is not valid now: renew it there, or set the clock of this machine.'
      : /does not match certificate/i.test(message)
        ? 'The certificate of the mail server is for another name: use that name in --smtp.'
        : undefined;
  return advice === undefined ? error : new Error(`${message}. ${advice}`, { cause: error });
}

const SUBJECT = 150;

/** Returns a message in words. */
function mailOf(body: AlertBody): Mail {
  const { text, error, sources, severity, event, isReminder, alert, time, id } = body;
  const kind = event === 'recovered' || event === 'test' ? event : severity;
  return {
    subject: `[${isReminder ? 'reminder' : kind}] ${text}`.slice(0, SUBJECT),
    text: [
      text,
      '',
      ...(error?.hint === undefined ? [] : [`What to do: ${error.hint}`, '']),
      ...sources.flatMap((source) => [...linesOf(source), '']),
      ...(alert === undefined ? [] : [`Alert ${alert.id}, ${alert.name}`]),
      `Message ${id}, ${time}`,
      '',
    ].join('\n'),
  };
}

function linesOf({
  component,
  configuration,
  run,
  table,
  column,
  token,
  detail,
  since,
  link,
}: AlertSource): string[] {
  const what = [
    configuration === undefined ? undefined : `configuration ${configuration} of ${component}`,
    table === undefined ? undefined : `table ${table}, column ${column}`,
    token === undefined ? undefined : `token ${token}`,
    run === undefined ? undefined : `run ${run}`,
  ].filter((each) => each !== undefined);
  return [
    `- ${what.join(', ')}, since ${since}`,
    ...(detail === undefined ? [] : [`  ${detail}`]),
    ...(link === undefined ? [] : [`  ${link}`]),
  ];
}

/** Returns the addresses of a `mailto:` address; undefined where one of them cannot be one. */
export function mailAddresses(url: string): readonly string[] | undefined {
  const { protocol, pathname, search, hash } = URL.parse(url) ?? {};
  if (protocol !== 'mailto:' || search !== '' || hash !== '') return undefined;
  const addresses = percentDecoded(pathname ?? '')
    .split(',')
    .map((address) => address.trim());
  return addresses.every((address) => ADDRESS.test(address)) ? addresses : undefined;
}

/** No name, no group, no sign that has a meaning in a header. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]+@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u;
