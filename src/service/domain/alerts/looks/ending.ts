import { isoTime } from '../../../../lib/iso-time.ts';
import { listEnding } from '../../../stores/metadata/alerts.ts';
import { findingOf, type AlertFinding, type AlertFindings, type AlertLook } from '../finding.ts';

const PREFIX = 'token ';
const DAY_MS = 86_400_000;

/** Looks at tokens that end soon, or have ended. */
export async function lookAtEnds({ meta, alert, kinds, now, known }: AlertLook): Promise<AlertFindings> {
  const found = new Map<string, AlertFinding | undefined>(
    known.filter((key) => key.startsWith(PREFIX)).map((key) => [key, undefined]),
  );
  const { ending_days: days } = alert;
  if (!kinds.has('ending') || days === null) return found;
  for (const token of await listEnding(meta, isoTime(now + days * DAY_MS))) {
    const end = Date.parse(token.expires ?? '');
    const begin = Math.max(Date.parse(token.created), Date.parse(token.refreshed));
    // A token for a day is meant to end.
    if (end - begin <= days * DAY_MS) continue;
    const subject = `${PREFIX}${token.id}`;
    const isOver = end <= now;
    found.set(
      subject,
      findingOf({
        lock_key: subject,
        kind: 'ending',
        severity: isOver ? 'error' : 'warning',
        cause: subject,
        place: JSON.stringify({ token: String(token.id) }),
        detail: `The token “${token.description}” ${isOver ? 'ended' : 'ends'} at ${isoTime(end)}.`,
        since: isoTime(end - days * DAY_MS),
      }),
    );
  }
  return found;
}
