import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, test } from 'vitest';
import { createMailer, type MailOptions } from '../../src/service/domain/alerts/mail.ts';
import type { AlertBody } from '../../src/service/domain/alerts/message.ts';
import { makeCertificates, type Certificates } from '../engine/http/support.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A mail server with a certificate of an authority that nobody else knows. */
async function mailServer(offers: 'starttls' | 'tls', certificates: Certificates) {
  const got: { isSecure: boolean; text: string }[] = [];
  const server = new SMTPServer({
    secure: offers === 'tls',
    key: certificates.key,
    cert: certificates.cert,
    authOptional: true,
    disabledCommands: ['AUTH'],
    onData: (stream, session, done) => {
      let text = '';
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('end', () => {
        got.push({ isSecure: session.secure, text });
        done();
      });
    },
  });
  server.on('error', () => undefined); // of clients that break the handshake off
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closing.push(async () => await new Promise((resolve) => server.close(() => resolve(undefined))));
  return { got, port: (server.server.address() as AddressInfo).port };
}

const BODY: AlertBody = {
  id: '1',
  time: '2026-01-02T03:04:05Z',
  event: 'test',
  severity: 'error',
  cause: 'test',
  text: 'Project: This message is a test',
  project: 'Project',
  isReminder: false,
  sources: [],
};

const send = async (options: Omit<MailOptions, 'from'>): Promise<string> =>
  await createMailer({ ...options, from: 'gex@example.com' })(
    ['ops@example.com'],
    BODY,
    new AbortController().signal,
  );

describe('a mail under TLS', () => {
  test.each(['tls', 'starttls'] as const)('goes to a server of the house by %s', async (offers) => {
    const house = makeCertificates('localhost', 'Authority of the house');
    const { got, port } = await mailServer(offers, house);
    const url = `${offers === 'tls' ? 'smtps' : 'smtp'}://localhost:${port}`;
    await expect(send({ url })).rejects.toThrow(/certificate.*--smtp-ca/i);
    expect(got).toEqual([]);
    expect(await send({ url, ca: house.ca })).toMatch(/^250/);
    expect(got).toMatchObject([{ isSecure: true, text: expect.stringContaining('is a test') as string }]);
  });

  test('does not go to a server with the certificate of another', async () => {
    const other = makeCertificates('mail.example.com', 'Authority of the house');
    const { got, port } = await mailServer('tls', other);
    const sent = send({ url: `smtps://localhost:${port}`, ca: other.ca });
    await expect(sent).rejects.toThrow(/for another name: use that name in --smtp/);
    expect(got).toEqual([]);
  });
});
