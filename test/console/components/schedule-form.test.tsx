import { fireEvent, render, screen } from '@testing-library/preact';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Schedule } from '../../../console/data/client.ts';
import { ScheduleForm } from '../../../console/views/runs/schedule-form.tsx';
import { answer, signIn } from './service.ts';

beforeEach(() => {
  signIn();
  vi.useFakeTimers({ now: new Date('2026-06-03T12:00:00Z'), toFake: ['Date'] });
});

function show(cron?: string) {
  const onClose = vi.fn();
  const asked = answer({
    'GET components/ex-generic/configs/5/rows': [],
    'POST components/ex-generic/configs/5/schedules': { id: '1', cron: '', timeZone: '' },
  });
  const schedule = { id: '1', cron, timeZone: 'UTC', rows: [] } as unknown as Schedule; // what a form looks at
  render(
    <ScheduleForm
      component="ex-generic"
      configuration="5"
      schedule={cron === undefined ? undefined : schedule}
      onClose={onClose}
    />,
  );
  return { asked, onClose };
}

const type = (label: string, value: string): boolean =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
const select = (label: string): HTMLSelectElement =>
  screen.getByRole<HTMLSelectElement>('combobox', { name: label });
const save = (): HTMLButtonElement =>
  screen.getByRole<HTMLButtonElement>('button', { name: 'Save the schedule' });
const next = (): string | null => screen.getAllByRole('status').at(-1)?.textContent ?? null;

describe('the form of a schedule', () => {
  test('tells in words what it means, and when that is', () => {
    show('30 6 * * 1');
    expect(select('It runs').selectedOptions[0]?.textContent).toBe('Every week');
    expect(next()).toBe(
      'Every Monday at 06:30Next: Mon 8 Jun, 06:30 · Mon 15 Jun, 06:30 · Mon 22 Jun, 06:30',
    );
    fireEvent.change(select('It runs'), { target: { value: 'monthly' } });
    expect(next()).toMatch(/^Day 1 of every month at 06:30/);
  });

  test.each([
    ['At', '25:00', /^This is no time that can be/],
    ['Time zone', 'Europe/Nowhere', /^The time zone is not known/],
  ])('does not save a wrong “%s”', (label, value, words) => {
    show('30 6 * * *');
    type('Time zone', 'UTC');
    type(label, value);
    expect(next()).toMatch(words);
    expect(save().disabled).toBe(true);
  });

  test('says at the field that there is no such zone', () => {
    show('30 6 * * *');
    type('Time zone', 'Mars');
    expect(screen.getByRole('alert').textContent).toMatch(/^There is no such zone/);
    expect(screen.getByLabelText('Time zone').getAttribute('aria-invalid')).toBe('true');
  });

  test('shows how often it runs, also where its list has no such number', () => {
    show('*/4 * * * *');
    expect(next()).toMatch(/^Every 4 minutes/);
    expect(select('How often').selectedOptions[0]?.textContent).toBe('every 4 minutes');
  });

  test('keeps what only cron can say', () => {
    show('0 6,18 * * *');
    expect(screen.getByLabelText<HTMLInputElement>('Cron expression').value).toBe('0 6,18 * * *');
    expect(next()).toMatch(/Next: Wed 3 Jun, 18:00 · Thu 4 Jun, 06:00/);
  });

  test('sends five fields of cron', async () => {
    const { asked, onClose } = show();
    type('Time zone', 'Europe/Prague');
    type('At', '7:05');
    fireEvent.click(save());
    await expect.poll(() => onClose.mock.calls.length).toBe(1);
    expect(asked.find(({ what }) => what.startsWith('POST'))?.body).toEqual({
      cron: '5 7 * * *',
      timeZone: 'Europe/Prague',
      rows: [],
    });
  });
});
