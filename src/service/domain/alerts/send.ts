import { reasonOf } from '../../../lib/errors.ts';
import { decryptValue, type Scope } from '../../../lib/encryption/index.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { findAlert, listDueAlerts, listDueMessages, updateMessage } from '../../stores/metadata/alerts.ts';
import type { AlertMessageRow, AlertRow } from '../../stores/metadata/tables.ts';
import type { Context } from '../context.ts';
import { mailAddresses, type SendMail } from './mail.ts';
import type { AlertBody } from './message.ts';
import { postMessage, type MessageReach } from './post.ts';

const SECOND_MS = 1000;
/** Between an attempt and the next; after the last one a message is dead. */
const WAITS_MS: readonly number[] = [30, 120, 600, 3600, 21_600].map((seconds) => seconds * SECOND_MS);
const AT_ONCE = 20;
/** Messages are begun for so long; the others go after the next look, which is to tell of what is late within a minute. */
const BEGUN_MS = 15 * SECOND_MS;
const ANSWER = 200;

type SendContext = Pick<Context, 'env' | 'keys' | 'log' | 'meta' | 'project' | 'queue'>;

/** Ways that messages go by. */
export interface MessageWays {
  readonly reach?: MessageReach | undefined;
  /** Absent where the service has no mail server. */
  readonly mail?: SendMail | undefined;
}

/** Returns the place that the keys of alerts are encrypted for. */
export const scopeOfAlerts = (project: number | string): Scope => ({
  project: String(project),
  component: 'alerts',
});

/** Sends the messages whose time has come, each at least once: its id tells the receiver of one that comes twice. */
export async function sendMessages(
  context: SendContext,
  ways: MessageWays,
  signal: AbortSignal,
): Promise<void> {
  const { env, meta, queue } = context;
  const now = isoTime(await queue.runs.now());
  const until = env.now() + BEGUN_MS;
  // A receiver that does not answer, or has many to come, holds up no other.
  await Promise.all(
    (await listDueAlerts(meta, now)).map(async (id) => {
      const alert = await findAlert(meta, id);
      if (alert === undefined) return;
      for (const message of await listDueMessages(meta, id, now, AT_ONCE)) {
        // One that takes nothing now gets the others with the next look, which does not wait for each of them.
        if (signal.aborted || env.now() >= until) return;
        if (!(await sendOne(context, alert, message, ways, signal))) return;
      }
    }),
  );
}

/** @returns whether it was taken */
async function sendOne(
  context: SendContext,
  alert: AlertRow,
  message: AlertMessageRow,
  ways: MessageWays,
  signal: AbortSignal,
): Promise<boolean> {
  const { meta, queue, log } = context;
  const answer = await deliver(context, alert, message, ways, signal).catch((error: unknown) => ({
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
  return answer.isTaken;
}

async function deliver(
  { keys, project }: SendContext,
  alert: AlertRow,
  { body, uuid }: AlertMessageRow,
  { reach, mail }: MessageWays,
  signal: AbortSignal,
): Promise<{ readonly isTaken: boolean; readonly text: string }> {
  const addresses = mailAddresses(alert.url);
  if (addresses !== undefined) {
    if (mail === undefined) throw new Error('The service has no mail server: start it with --smtp.');
    // Written by this service.
    const answer = await mail(addresses, JSON.parse(body) as AlertBody, signal);
    return { isTaken: true, text: `It answered ${answer}` };
  }
  const { value: secret } = decryptValue(alert.secret, scopeOfAlerts(project.id), keys);
  if (typeof secret !== 'string') throw new Error('The key of the alert is no text.');
  const status = await postMessage(new URL(alert.url), { id: uuid, body }, { reach, secret, signal });
  return { isTaken: status >= 200 && status < 300, text: `It answered ${status}.` };
}
