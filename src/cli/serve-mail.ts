import { readFileSync } from 'node:fs';
import { reasonOf, RunError } from '../lib/errors.ts';
import { percentDecoded } from '../lib/percent.ts';
import type { ServiceOptions } from '../service/start/service-options.ts';
import { valued, type Args, type Io, type Option } from './command.ts';

/** The options of `gex serve` for alerts by mail. */
export const mailOptions = {
  smtp: valued(
    'URL',
    'Mail server for alerts: smtps://user:password@mail.example.com, or smtp:// to go on under TLS; GEX_SMTP by default, which no list of processes shows',
  ),
  'smtp-ca': valued(
    'FILE',
    'Certificates of authorities that the mail server is trusted by, as PEM, beside the usual ones; GEX_SMTP_CA by default',
  ),
  'mail-from': valued('ADDRESS', 'Address that mails are from; GEX_MAIL_FROM by default'),
} as const satisfies Record<string, Option>;

function certificatesIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new RunError('command.invalid', `--smtp-ca cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new RunError('command.invalid', `--smtp-ca has no certificate in it: ${file}.`, {
    hint: 'It is a file of PEM, with lines of -----BEGIN CERTIFICATE-----.',
  });
}

/** @throws {RunError} `command.invalid` */
export function mailArgs(args: Args, io: Io): Pick<ServiceOptions, 'mail'> {
  const [url, from, caFile] = ['smtp', 'mail-from', 'smtp-ca'].map((name) => args.text(name));
  if (url === undefined && from === undefined && caFile === undefined) return {};
  const { protocol = '', hostname = '', password = '' } = URL.parse(url ?? '') ?? {};
  for (const secret of [password, percentDecoded(password)]) if (secret !== '') io.secrets.add(secret);
  if (url === undefined || !/^smtps?:$/.test(protocol) || hostname === '')
    throw new RunError('command.invalid', '--smtp is not the address of a mail server.', {
      hint: 'Write for example --smtp smtps://user@mail.example.com, with the password in GEX_SMTP alone.',
    });
  if (from === undefined || !/^[^\s@]+@[^\s@]+$|^[^<>@]*<[^\s@<>]+@[^\s@<>]+>$/.test(from))
    throw new RunError('command.invalid', '--mail-from is not the address that mails are from.', {
      hint: 'Write for example --mail-from gex@example.com.',
    });
  return { mail: { url, from, ...(caFile === undefined ? {} : { ca: certificatesIn(caFile) }) } };
}
