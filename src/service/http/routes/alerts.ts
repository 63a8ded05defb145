import { Type } from 'typebox';
import {
  Alert,
  AlertCreate,
  AlertMessage,
  AlertMessagesQuery,
  AlertsQuery,
  AlertUpdate,
  type AlertKind,
  type WatchedColumn,
} from '../../../storage/protocol/alert.ts';
import { encryptValue } from '../../../lib/encryption/index.ts';
import { readTime } from '../../../storage/protocol/read-time.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { scopeOfAlerts } from '../../domain/alerts/send.ts';
import { mailAddresses } from '../../domain/alerts/mail.ts';
import { writeMessage } from '../../domain/alerts/tell.ts';
import { accessDenied, ApiError, invalidField, notFound } from '../../domain/api-error.ts';
import type { Context } from '../../domain/context.ts';
import { alertReply, messageReply } from '../../domain/presenters/alert.ts';
import type { Reply } from '../../domain/reply.ts';
import { authorOf, type Caller } from '../../domain/tokens/caller.ts';
import {
  deleteAlert,
  findAlert,
  findMessage,
  insertAlert,
  listAlerts,
  listCauses,
  listMessages,
  listStates,
  updateAlert,
  updateMessage,
} from '../../stores/metadata/alerts.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { AlertMessageRow, AlertRow } from '../../stores/metadata/tables.ts';
import { alertOf } from '../../stores/metadata/transaction.ts';
import { routesOf, type Route, type Who } from '../route.ts';

const route = routesOf('Alerts');

const SECRET_BYTES = 32;
const MOST_ALERTS = 1000;
const MESSAGES = 100;

/** Makes the routes of alerts, by which people are told when runs go wrong; for the master token alone. */
export function alertRoutes(context: Context): Route[] {
  const { meta, env, keys, project, queue } = context;
  return [
    route('GET', '/alerts', {
      summary: 'All alerts, with what each sees to be wrong',
      query: AlertsQuery,
      response: Type.Array(Alert),
      handle: async ({ query, caller, branch }) => {
        requireMaster(caller);
        const { limit = MOST_ALERTS, offset = 0 } = query;
        const alerts = (await listAlerts(meta, branch.id)).slice(offset, offset + limit);
        return await Promise.all(alerts.map(async (alert) => await reply(meta, alert)));
      },
    }),
    route('POST', '/alerts', {
      summary: 'Makes an alert; the answer alone has the key that messages are signed with',
      status: 201,
      body: AlertCreate,
      response: Alert,
      makesSecret: true,
      handle: async ({ body, caller, branch, transact }) => {
        requireMaster(caller);
        const secret = Buffer.from(env.randomBytes(SECRET_BYTES)).toString('base64url');
        const now = isoTime(await queue.runs.now());
        const row: AlertRow = {
          id: 0,
          branch_id: branch.id,
          secret: encryptValue(secret, scopeOfAlerts(project.id), keys, env),
          seen_until: now,
          created: now,
          ...columnsOf(
            {
              isEnabled: true,
              ...body,
              kinds: body.kinds ?? defaultKinds(body),
            },
            env.now(),
          ),
          ...authorOf(caller),
        };
        return await transact([], async (tx) => {
          const made = { ...row, id: await nextId(tx) };
          await insertAlert(tx, made);
          return { ...alertReply(made, [], []), secret };
        });
      },
    }),
    route('GET', '/alerts/:alert', {
      summary: 'An alert',
      response: Alert,
      handle: async ({ params, ...who }) => await reply(meta, await requireAlert(meta, who, params.alert)),
    }),
    route('PUT', '/alerts/:alert', {
      summary: 'Changes an alert; what is left out stays',
      body: AlertUpdate,
      response: Alert,
      handle: async ({ params, body, transact, ...who }) => {
        const { id } = await requireAlert(meta, who, params.alert);
        return await transact([alertOf(id)], async (tx) => {
          const known = await requireAlert(tx, who, params.alert);
          const { isEnabled, ...shown } = alertFields(known);
          const changes = columnsOf({ ...shown, isEnabled, ...body }, env.now());
          // Runs that ended while it was off are not told of.
          const isAnew = !isEnabled && changes.is_enabled === 1;
          await updateAlert(tx, id, {
            ...changes,
            ...(isAnew ? { seen_until: isoTime(await queue.runs.now()) } : {}),
          });
          return await reply(tx, { ...known, ...changes });
        });
      },
    }),
    route('DELETE', '/alerts/:alert', {
      summary: 'Deletes an alert, with its messages',
      handle: async ({ params, transact, ...who }) => {
        const { id } = await requireAlert(meta, who, params.alert);
        await transact([alertOf(id)], async (tx) => await deleteAlert(tx, id));
        return undefined;
      },
    }),
    route('POST', '/alerts/:alert/test', {
      summary: 'Sends a message to try the address of an alert',
      status: 202,
      response: AlertMessage,
      handle: async ({ params, transact, ...who }) => {
        const alert = await requireAlert(meta, who, params.alert);
        const time = isoTime(await queue.runs.now());
        return await transact([alertOf(alert.id)], async (tx) => {
          const { message } = await writeMessage(tx, context, alert, {
            event: 'test',
            severity: 'warning',
            cause: 'test',
            sources: [],
            isReminder: false,
            time,
          });
          return messageReply(await requireMessage(tx, alert, String(message)));
        });
      },
    }),
    route('GET', '/alerts/:alert/messages', {
      summary: 'Messages of an alert, the newest first, with the answers of the receiver',
      query: AlertMessagesQuery,
      response: Type.Array(AlertMessage),
      handle: async ({ params, query, ...who }) => {
        const { id } = await requireAlert(meta, who, params.alert);
        const { limit = MESSAGES, offset = 0, status } = query;
        return (await listMessages(meta, id, { limit, offset, status })).map(messageReply);
      },
    }),
    route('POST', '/alerts/:alert/messages/:message/send', {
      summary: 'Sends a message again, under its id',
      status: 202,
      response: AlertMessage,
      handle: async ({ params, transact, ...who }) => {
        const alert = await requireAlert(meta, who, params.alert);
        const time = isoTime(await queue.runs.now());
        return await transact([alertOf(alert.id)], async (tx) => {
          const message = await requireMessage(tx, alert, params.message);
          if (message.status === 'waiting' && message.attempts === 0)
            throw new ApiError(
              409,
              'storage.alerts.waiting',
              `The message ${message.id} is on its way already.`,
            );
          const changes = { status: 'waiting', attempts: 0, not_before: time } as const;
          await updateMessage(tx, message.id, changes);
          return messageReply({ ...message, ...changes });
        });
      },
    }),
  ];
}

async function reply(meta: Meta, alert: AlertRow): Promise<Record<string, Reply>> {
  return alertReply(alert, await listStates(meta, alert.id), await listCauses(meta, alert.id));
}

/** Returns what an alert tells of that names no kinds. */
function defaultKinds({ lateMinutes, columns, endingDays }: AlertCreate): AlertKind[] {
  return [
    'failed',
    'doubtful',
    ...(lateMinutes == null ? [] : (['late'] as const)),
    ...(columns == null ? [] : (['stale'] as const)),
    ...(endingDays == null ? [] : (['ending'] as const)),
  ];
}

type Fields = AlertUpdate & Required<Pick<AlertCreate, 'isEnabled' | 'kinds' | 'name' | 'url'>>;

function alertFields(row: AlertRow): Fields {
  return {
    name: row.name,
    url: row.url,
    kinds: JSON.parse(row.kinds) as AlertKind[], // of this service
    component: row.component_id,
    configuration: row.configuration_id,
    lateMinutes: row.late_minutes,
    lateErrorMinutes: row.late_error_minutes,
    columns: row.columns === null ? null : (JSON.parse(row.columns) as WatchedColumn[]), // of this service
    endingDays: row.ending_days,
    remindMinutes: row.remind_minutes,
    mutedUntil: row.muted_until,
    isEnabled: row.is_enabled === 1,
  };
}

/** @throws {ApiError} 400 naming the field that is wrong */
function columnsOf(fields: Fields, now: number) {
  const { url, kinds, component = null, configuration = null, mutedUntil = null } = fields;
  const { lateMinutes = null, lateErrorMinutes = null, columns = null, endingDays = null } = fields;
  requireAddress(url);
  if (kinds.length === 0) throw invalid('kinds', 'It names nothing to tell of.');
  if (configuration !== null && component === null)
    throw invalid('configuration', 'It needs "component", which it is a configuration of.');
  for (const [kind, field, value] of [
    ['late', 'lateMinutes', lateMinutes],
    ['stale', 'columns', columns],
    ['ending', 'endingDays', endingDays],
  ] as const)
    if (kinds.includes(kind) !== (value !== null))
      throw invalid(field, `"${kind}" among the kinds and "${field}" go together.`);
  if (lateErrorMinutes !== null && (lateMinutes === null || lateErrorMinutes <= lateMinutes))
    throw invalid('lateErrorMinutes', 'It is more than "lateMinutes".');
  for (const { column, warnMinutes, errorMinutes } of columns ?? [])
    if (errorMinutes != null && errorMinutes <= warnMinutes)
      throw invalid('columns', `"errorMinutes" of "${column}" is more than "warnMinutes".`);
  const muted = mutedUntil === null ? null : readTime(mutedUntil, now)?.getTime();
  if (muted === undefined) throw invalid('mutedUntil', `"${mutedUntil}" is no time of ISO 8601.`);
  return {
    name: fields.name,
    url,
    kinds: JSON.stringify([...new Set(kinds)]),
    component_id: component,
    configuration_id: configuration,
    late_minutes: lateMinutes,
    late_error_minutes: lateErrorMinutes,
    columns: columns === null ? null : JSON.stringify(columns),
    ending_days: endingDays,
    remind_minutes: fields.remindMinutes ?? null,
    muted_until: muted === null ? null : isoTime(muted),
    is_enabled: fields.isEnabled ? (1 as const) : (0 as const),
  };
}

/** @throws {ApiError} 400 */
function requireAddress(url: string): void {
  const { protocol = '', username = '', password = '' } = URL.parse(url) ?? {};
  if (protocol === 'mailto:') {
    if (mailAddresses(url) === undefined)
      throw invalid('url', 'Behind "mailto:" are addresses of mail with commas, and nothing else.');
    return;
  }
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '')
    throw invalid(
      'url',
      'It is no address by http or https, without a name and password in it, and no "mailto:".',
    );
}

const invalid = (field: string, message: string): ApiError =>
  invalidField('storage.validation', field, message);

/** @throws {ApiError} 403 */
function requireMaster(caller: Caller): void {
  if (!caller.isMaster) throw accessDenied();
}

/** Returns an alert of the branch. @throws {ApiError} 403, 404 */
async function requireAlert(meta: Meta, { caller, branch }: Who, id: string): Promise<AlertRow> {
  requireMaster(caller);
  const alert = /^\d{1,15}$/.test(id) ? await findAlert(meta, Number(id)) : undefined;
  if (alert === undefined || alert.branch_id !== branch.id)
    throw notFound(`Alert ${id} not found`, 'storage.alerts.notFound');
  return alert;
}

/** @throws {ApiError} 404 */
async function requireMessage(meta: Meta, alert: AlertRow, id: string): Promise<AlertMessageRow> {
  const message = /^\d{1,15}$/.test(id) ? await findMessage(meta, Number(id)) : undefined;
  if (message === undefined || message.alert_id !== alert.id)
    throw notFound(`Message ${id} of alert ${alert.id} not found`, 'storage.alerts.noMessage');
  return message;
}
