import { expect, test } from 'vitest';
import { followTime } from '../../src/cli/time-spent.ts';

/** Goes through steps, each after so many milliseconds. */
function spentBy(steps: (spent: ReturnType<typeof followTime>, now: () => number) => readonly Step[]) {
  let now = 1000;
  const spent = followTime({ now: () => now }, 1000);
  for (const [ms, step] of steps(spent, () => now)) {
    now += ms;
    step();
  }
  return spent.soFar();
}

type Step = readonly [afterMs: number, step: () => void];

const NONE = {
  startMs: 0,
  loginMs: 0,
  requestsMs: 0,
  waitingMs: 0,
  inputMs: 0,
  writingMs: 0,
  uploadMs: 0,
  importMs: 0,
};

test('the time of a run is that of its start, logins, requests, waits, writing, upload and import', () => {
  const parts = spentBy((spent, now) => [
    [300, () => spent.transfer('download', 'in.csv')],
    [50, () => spent.transfer('download', 'in.csv')],
    [0, () => spent.request(1, true)],
    [100, () => spent.request(-1, true)],
    [0, () => spent.request(1, false)],
    [200, () => spent.request(-1, false)],
    [40, () => spent.wait(now() + 500)],
    [500, () => spent.request(1, false)],
    [60, () => spent.request(-1, false)],
    [10, () => spent.transfer('upload', 'out.csv')],
    [70, () => spent.transfer('upload', 'out.csv')],
    [900, () => spent.row()],
    [5, () => undefined],
  ]);
  expect(parts).toEqual({
    startMs: 300,
    inputMs: 50,
    loginMs: 100,
    requestsMs: 260,
    writingMs: 55,
    waitingMs: 500,
    uploadMs: 70,
    importMs: 900,
  });
});

test('each moment counts once, however much is under way', () => {
  const parts = spentBy((spent, now) => [
    [10, () => spent.request(1, false)],
    [100, () => spent.request(1, false)],
    [100, () => spent.wait(now() + 1000)],
    [100, () => spent.request(-1, false)],
    [100, () => spent.request(1, true)],
    [100, () => spent.request(-1, true)],
    [100, () => spent.request(-1, false)],
    // The rest of the wait, and what came after it.
    [1000, () => spent.request(1, false)],
    [0, () => spent.request(-1, false)],
  ]);
  expect(parts).toEqual({
    ...NONE,
    startMs: 10,
    requestsMs: 500,
    loginMs: 100,
    waitingMs: 600,
    writingMs: 400,
  });
});

test('what goes on counts so far, and a clock that is set back takes nothing away', () => {
  expect(
    spentBy((spent) => [
      [10, () => spent.request(1, false)],
      [90, () => undefined],
    ]),
  ).toEqual({
    ...NONE,
    startMs: 10,
    requestsMs: 90,
  });
  expect(
    spentBy((spent) => [
      [10, () => spent.request(1, false)],
      [-500, () => spent.request(-1, false)],
      [20, () => undefined],
    ]),
  ).toEqual({ ...NONE, startMs: 10 });
});
