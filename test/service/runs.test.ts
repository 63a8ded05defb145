import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  ConfigurationBriefs,
  ConfigurationNames,
} from '../../src/storage/protocol/configuration-brief.ts';
import type { ScheduleBriefs, ScheduleCalendar } from '../../src/storage/protocol/schedule.ts';
import { metaOf } from './database.ts';
import { startService, type Running } from './harness.ts';

let service: Running;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => await service.stop());

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly nextTime: string | null;
}

const shown = ({ body }: { readonly body: unknown }): Shown => body as Shown;

async function configuration(id: string): Promise<string> {
  const made = await service.call('POST', 'components/ex-generic-v2/configs', {
    configurationId: id,
    name: id,
    configuration: {},
  });
  expect(made.status).toBe(201);
  return id;
}

const start = async (id: string, more: object = {}, headers: Record<string, string> = {}) =>
  await service.call('POST', 'runs', { component: 'ex-generic-v2', configuration: id, ...more }, headers);

describe('a run that no runner takes', () => {
  test('waits, with what it was asked for', async () => {
    const id = await configuration('asked');
    const { status, body } = await start(id, { from: '2026-01-01', to: '2026-02-01', restart: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'waiting',
      component: 'ex-generic-v2',
      configuration: id,
      asked: { from: '2026-01-01', to: '2026-02-01', restart: true },
      attempt: 0,
      startTime: null,
      error: null,
      log: { lines: 0 },
    });
    const detail = await service.call('GET', `runs/${(body as Shown).id}`);
    expect(detail.body).toEqual(body);
    expect((await service.call('GET', `runs/${(body as Shown).id}/log`)).body).toEqual({
      lines: [],
      next: 0,
      isEnded: false,
    });
  });

  test('is cancelled at once, and no second time', async () => {
    const { id } = shown(await start(await configuration('cancelled')));
    const { body } = await service.call('POST', `runs/${id}/cancel`);
    expect(body).toMatchObject({ status: 'cancelled' });
    expect((await service.call('POST', `runs/${id}/cancel`)).status).toBe(200);
    expect((await service.call('GET', `runs/${id}/log`)).body).toMatchObject({ isEnded: true });
  });

  test('is made once under an Idempotency-Key', async () => {
    const id = await configuration('once');
    const first = await start(id, {}, { 'Idempotency-Key': 'start-1' });
    const second = await start(id, {}, { 'Idempotency-Key': 'start-1' });
    expect(second.body).toEqual(first.body);
    expect((await service.call('GET', `runs?configuration=${id}`)).body).toHaveLength(1);
  });

  test('is refused beside another one only when that is asked for', async () => {
    const id = await configuration('beside');
    const first = shown(await start(id));
    const refused = await start(id, { ifRunning: 'refuse' });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'storage.runs.running', params: { run: Number(first.id) } });
    expect((await start(id)).status).toBe(201);
  });

  test.each([
    ['no configuration', { configuration: 'nobody' }, 404],
    ['a row that there is not', { rows: ['x'] }, 400],
    ['an end without a beginning', { to: '2026-01-01' }, 400],
    ['another answer to what runs', { ifRunning: 'later' }, 400],
  ])('is refused for %s', async (_what, more, status) => {
    const id = await configuration(`wrong-${_what.replaceAll(' ', '-')}`);
    expect((await start(id, more)).status).toBe(status);
  });
});

describe('the list of runs', () => {
  test('is narrowed by configuration and status, the newest first', async () => {
    const id = await configuration('listed');
    const runs = [shown(await start(id)), shown(await start(id)), shown(await start(id))];
    await service.call('POST', `runs/${runs[1]?.id}/cancel`);
    const ids = async (query: string) =>
      ((await service.call('GET', `runs?configuration=${id}&${query}`)).body as Shown[]).map(({ id }) => id);
    expect(await ids('')).toEqual(runs.map(({ id }) => id).toReversed());
    expect(await ids('status[]=cancelled')).toEqual([runs[1]?.id]);
    expect(await ids('limit=1&offset=1')).toEqual([runs[1]?.id]);
  });

  test('has none of components that the token may not use', async () => {
    const { id } = shown(await start(await configuration('hidden')));
    const { token } = (await service.call('POST', 'tokens', { componentAccess: ['wr-db'] })).body as {
      token: string;
    };
    const as = { 'x-storageapi-token': token };
    expect((await service.call('GET', 'runs', undefined, as)).body).toEqual([]);
    expect((await service.call('GET', `runs/${id}`, undefined, as)).status).toBe(403);
    expect((await service.call('POST', `runs/${id}/cancel`, undefined, as)).status).toBe(403);
    expect((await start('hidden', {}, as)).status).toBe(403);
  });
});

const at = (id: string, schedule = ''): string =>
  `components/ex-generic-v2/configs/${id}/schedules${schedule}`;

describe('schedules of a configuration', () => {
  test('are made, changed and deleted', async () => {
    const id = await configuration('scheduled');
    const made = await service.call('POST', at(id), { cron: '30 6 * * 1-5', timeZone: 'Europe/Prague' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ isEnabled: true, rows: [], lastTime: null });
    const { id: schedule, nextTime } = shown(made);
    expect(nextTime).toMatch(/T0[45]:30:00\+0000$/);
    const changed = await service.call('PUT', at(id, `/${schedule}`), { isEnabled: false });
    expect(changed.body).toMatchObject({ cron: '30 6 * * 1-5', isEnabled: false, nextTime: null });
    expect((await service.call('GET', at(id))).body).toEqual([changed.body]);
    expect((await service.call('DELETE', at(id, `/${schedule}`))).status).toBe(204);
    expect((await service.call('GET', at(id, `/${schedule}`))).status).toBe(404);
  });

  test.each([
    ['an expression of six fields', { cron: '* * * * * *' }, 'cron'],
    ['a minute that there is not', { cron: '61 * * * *' }, 'cron'],
    ['a time zone that there is not', { cron: '@daily', timeZone: 'Europe/Prgue' }, 'timeZone'],
    ['a row that there is not', { cron: '@daily', rows: ['x'] }, 'rows'],
  ])('are refused for %s', async (what, body, field) => {
    const id = await configuration(`schedule-${what.replaceAll(' ', '-')}`);
    const refused = await service.call('POST', at(id), body);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(field);
  });
});

const brief = async <Body>(path: string, token?: string): Promise<Body> => {
  const headers: Record<string, string> = token === undefined ? {} : { 'X-StorageApi-Token': token };
  const { status, body, text } = await service.call('GET', path, undefined, headers);
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  return body as Body;
};
const narrow = async (component: string): Promise<string> => {
  const body = { description: 'narrow', componentAccess: [component] };
  return ((await service.call('POST', 'tokens', body)).body as { token: string }).token;
};

const briefs = async (query: string, token?: string) =>
  await brief<ConfigurationBriefs>(`configurations/brief?search=BRIEF%20ex-generic${query}`, token);

const rhythms = async (query: string, token?: string) =>
  await brief<ScheduleBriefs>(`schedules/brief?search=rhythm${query}`, token);

describe('lists of all sources', () => {
  test('have configurations page by page, as they are searched and sorted, with the newest run', async () => {
    const ids = [
      await configuration('brief-b'),
      await configuration('brief-a'),
      await configuration('brief-c'),
    ];
    const { id: run } = shown(await start('brief-b'));
    await service.call('PUT', 'components/ex-generic-v2/configs/brief-a', { isDisabled: true });
    await service.call('DELETE', 'components/ex-generic-v2/configs/brief-c');
    const listed = async (query: string) =>
      (await briefs(query)).configurations.map(({ configuration: id }) => id);
    const page = await briefs('');
    expect(page.total).toBe(2);
    expect(page.all).toBeGreaterThanOrEqual(2);
    expect(page.configurations).toMatchObject([
      { configuration: 'brief-a', isDisabled: true, version: 2, lastRun: null },
      { configuration: 'brief-b', isDisabled: false, lastRun: { id: run, status: 'waiting', endTime: null } },
    ]);
    expect(page.configurations[0]?.componentName).not.toBe('');
    expect(await listed('&isReversed=true&limit=1')).toEqual(['brief-b']);
    expect(await listed('&limit=1&offset=1')).toEqual(['brief-b']);
    expect(await listed('&sort=changed')).toHaveLength(2);
    expect(await listed('&component=other')).toEqual([]);
    expect(await listed('&isDeleted=true')).toEqual([ids[2]]);
    expect(await briefs('', await narrow('ex-other'))).toMatchObject({ all: 0, total: 0 });
    expect((await service.call('GET', 'configurations/brief?sort=other')).status).toBe(400);
    const names = await brief<ConfigurationNames>('configurations/names');
    const of = names.find(({ component }) => component === 'ex-generic-v2');
    const found = of?.configurations.filter(({ configuration: id }) => id.startsWith('brief-'));
    expect(found).toEqual(
      page.configurations.map(({ configuration: id, name }) => ({ configuration: id, name })),
    );
    expect(of?.componentName).toBe(page.configurations[0]?.componentName);
    expect(await brief<ConfigurationNames>('configurations/names', await narrow('ex-other'))).toEqual([]);
  });

  test('have schedules page by page, and a calendar that counts them', async () => {
    const before = await brief<ScheduleBriefs>('schedules/brief?limit=0');
    const first = (await brief<ScheduleCalendar>('schedules/calendar')).hours;
    const at = async (id: string, body: object): Promise<string> =>
      shown(await service.call('POST', `components/ex-generic-v2/configs/${id}/schedules`, body)).id;
    await configuration('rhythm-b');
    await configuration('rhythm-a');
    const often = await at('rhythm-b', { cron: '*/10 * * * *' });
    const same = await at('rhythm-a', { cron: '*/10 * * * *' });
    const yearly = await at('rhythm-a', { cron: '@yearly', timeZone: 'Europe/Prague' });
    const off = await at('rhythm-a', { cron: '@daily', isEnabled: false });
    const listed = async (query: string) => (await rhythms(query)).schedules.map(({ id }) => id);
    const all = await rhythms('');
    expect(all).toMatchObject({ total: 4, counts: { disabled: before.counts.disabled + 1 } });
    expect(all.counts.active).toBe(before.counts.active + 3);
    expect(all.schedules).toMatchObject([
      { id: often, name: 'rhythm-b', cron: '*/10 * * * *', waitsFor: 'time', run: null },
      { id: same },
      { id: yearly, timeZone: 'Europe/Prague' },
      { id: off, waitsFor: 'enabling', nextTime: null },
    ]);
    expect(await listed('&limit=1&offset=2')).toEqual([yearly]);
    expect(await listed('&sort=name')).toEqual([same, yearly, off, often]);
    expect(await listed('&standing=disabled')).toEqual([off]);
    expect(await listed('%20prague')).toEqual([yearly]);
    expect(await rhythms('', await narrow('ex-other'))).toMatchObject({
      total: 0,
      counts: { active: 0, paused: 0, disabled: 0 },
    });
    const { hours } = await brief<ScheduleCalendar>('schedules/calendar');
    expect(hours).toHaveLength(25);
    const whole = hours[3];
    const known = first.find(({ time }) => time === whole?.time);
    expect(whole?.runs).toBe((known?.runs ?? 0) + 12);
    expect(whole?.first.map(({ name }) => name)).toEqual(expect.arrayContaining(['rhythm-a', 'rhythm-b']));
    // One that comes next later than others of its rhythm is counted from there on.
    const meta = await metaOf(service.dir);
    const next_occurrence = hours[3]?.time.replace('+0000', '.000Z') ?? '';
    await meta.updateTable('schedules').set({ next_occurrence }).where('id', '=', Number(same)).execute();
    await meta.destroy();
    const later = (await brief<ScheduleCalendar>('schedules/calendar')).hours;
    const runsAt = (place: number) => later.find(({ time }) => time === hours[place]?.time)?.runs;
    expect(runsAt(2)).toBe((hours[2]?.runs ?? 0) - 6);
    expect(runsAt(3)).toBe(whole?.runs);
    await service.call('PUT', 'components/ex-generic-v2/configs/rhythm-a', { isDisabled: true });
    expect((await brief<ScheduleCalendar>('schedules/calendar?hours=4')).hours[3]?.runs).toBe(
      (known?.runs ?? 0) + 6,
    );
  });
});
