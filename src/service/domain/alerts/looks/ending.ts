import { isoTime } from '../../../../lib/iso-time.ts';
import { listEnding, listWithLogins, type WithLogins } from '../../../stores/metadata/alerts.ts';
import { lockKeyOf } from '../../../stores/metadata/runs.ts';
import { keptLogins } from '../../configurations/logins.ts';
import { findingOf, isOf, type AlertFinding, type AlertFindings, type AlertLook } from '../finding.ts';

const PREFIX = 'token ';
const LOGIN = 'login ';
const DAY_MS = 86_400_000;

/** Looks at tokens and at logins of configurations that end soon, or have ended. */
export async function lookAtEnds({ meta, alert, kinds, now, known }: AlertLook): Promise<AlertFindings> {
  const found = new Map<string, AlertFinding | undefined>(
    known.filter((key) => key.startsWith(PREFIX) || key.startsWith(LOGIN)).map((key) => [key, undefined]),
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
  for (const configuration of await listWithLogins(meta, alert.branch_id))
    if (isOf(alert, configuration))
      for (const login of endingLogins(configuration, now, days * DAY_MS)) found.set(login.lock_key, login);
  return found;
}

/** Returns the logins of a configuration that somebody has to make again, now or soon. */
function endingLogins(
  { state, version_created, ...configuration }: WithLogins,
  now: number,
  soonMs: number,
): readonly AlertFinding[] {
  const logins = keptLogins(state);
  const last = Math.max(...logins.map(({ savedMs }) => savedMs));
  return logins.flatMap(({ name, account, endsMs, refusedMs, savedMs }) => {
    // One that is older than the version and than another login is left over from before.
    if (savedMs < last && savedMs < Date.parse(version_created)) return [];
    const endMs = refusedMs ?? endsMs;
    if (endMs === undefined || endMs - now > soonMs) return [];
    const isOver = refusedMs !== undefined || endMs <= now;
    // One that lasts for a day is meant to end.
    if (!isOver && endMs - savedMs <= soonMs) return [];
    const subject = `${LOGIN}${lockKeyOf(configuration)} ${name}`;
    const whose = account === undefined ? 'The login' : `The login of ${account}`;
    const how = refusedMs === undefined ? (isOver ? 'ended' : 'ends') : 'was refused by the provider';
    return [
      findingOf({
        lock_key: subject,
        component_id: configuration.component_id,
        configuration_id: configuration.configuration_id,
        kind: 'ending',
        severity: isOver ? 'error' : 'warning',
        cause: subject,
        detail: `${whose} ${how} at ${isoTime(endMs)}: log in again on the page of the source.`,
        since: isoTime(isOver ? endMs : endMs - soonMs),
      }),
    ];
  });
}
