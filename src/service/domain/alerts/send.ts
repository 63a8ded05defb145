import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { reasonOf } from '../../../lib/errors.ts';
import { decryptValue, type Scope } from '../../../lib/encryption/index.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { VERSION } from '../../../lib/version.ts';
import { findAlert, listDueMessages, updateMessage } from '../../stores/metadata/alerts.ts';
import type { AlertMessageRow, AlertRow } from '../../stores/metadata/tables.ts';
import type { Context } from '../context.ts';

const SECOND_MS = 1000;
/** Between an attempt and the next; after the last one a message is dead. */
const WAITS_MS: readonly number[] = [30, 120, 600, 3600, 21_600].map((seconds) => seconds * SECOND_MS);
const TIMEOUT_MS = 10_000;
const AT_ONCE = 20;
const ANSWER = 200;

type SendContext = Pick<Context, 'env' | 'keys' | 'log' | 'meta' | 'project' | 'queue'>;

/** Checks of the hosts that messages go to; each throws for one that is not allowed. */
export interface MessageReach {
  requireHost(hostname: string): void;
  readonly lookup: LookupFunction;
}

/** Returns the place that the keys of alerts are encrypted for. */
export const scopeOfAlerts = (project: number | string): Scope => ({
  project: String(project),
  component: 'alerts',
});

/** Sends the messages whose time has come, each at least once: its id tells the receiver of one that comes twice. */
export async function sendMessages(
  context: SendContext,
  reach: MessageReach | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { meta, queue } = context;
  const due = await listDueMessages(meta, isoTime(await queue.runs.now()), AT_ONCE);
  // A receiver that does not answer holds up no other.
  await Promise.all(
    [...Map.groupBy(due, ({ alert_id }) => alert_id)].map(async ([id, messages]) => {
      const alert = await findAlert(meta, id);
      if (alert === undefined) return;
      for (const message of messages)
        if (!signal.aborted) await sendOne(context, alert, message, reach, signal);
    }),
  );
}

async function sendOne(
  context: SendContext,
  alert: AlertRow,
  message: AlertMessageRow,
  reach: MessageReach | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { meta, queue, log } = context;
  const answer = await post(context, alert, message, reach, signal).catch((error: unknown) => ({
    isTaken: false,
    text: reasonOf(error),
  }));
  const attempts = message.attempts + 1;
  const waitMs = WAITS_MS[message.attempts];
  const status = answer.isTaken ? 'sent' : waitMs === undefined ? 'dead' : 'waiting';
  const next = isoTime((await queue.runs.now()) + (waitMs ?? 0));
  const told = answer.text.slice(0, ANSWER);
  await updateMessage(meta, message.id, { status, attempts, answer: told, not_before: next });
  if (!answer.isTaken)
    log.warn('Alert could not be sent', {
      alert: alert.id,
      message: message.uuid,
      attempts,
      status,
      detail: told,
    });
}

async function post(
  { keys, project }: SendContext,
  alert: AlertRow,
  { body, uuid }: AlertMessageRow,
  reach: MessageReach | undefined,
  signal: AbortSignal,
): Promise<{ readonly isTaken: boolean; readonly text: string }> {
  const url = new URL(alert.url);
  reach?.requireHost(url.hostname);
  const { value: secret } = decryptValue(alert.secret, scopeOfAlerts(project.id), keys);
  if (typeof secret !== 'string') throw new Error('The key of the alert is no text.');
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const { request } = url.protocol === 'https:' ? https : http;
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        lookup: reach?.lookup,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `generic-extractor/${VERSION}`,
          'x-gex-message': uuid,
          'x-gex-signature': `sha256=${signature}`,
        },
      },
      (answer) => {
        const status = answer.statusCode ?? 0;
        answer.resume();
        answer.on('end', () =>
          resolve({ isTaken: status >= 200 && status < 300, text: `It answered ${status}.` }),
        );
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
