import { milliseconds } from '../support/figures.ts';
import { watch, withPage, type Motion, type Opened } from './browser.ts';
import { random } from './random.ts';
import type { Service } from './service.ts';

export const SCROLLING_HEAD = [
  '',
  'frames',
  'longest frame',
  'over 50 ms',
  'longest task',
  'over 50 ms',
  'its processor time',
  'over 50 ms',
  'load',
];

/** The rows of a table, moved in every way that people do it. */
export async function scrolling(service: Service, table: string, seconds: number): Promise<string[][]> {
  return await withPage(async (opened) => {
    const { page } = opened;
    await page.goto(await service.link(`/tables/${table}`));
    await page.getByRole('gridcell').first().waitFor();
    await settled(page);
    const rows: string[][] = [];
    for (const [name, move] of MOVES) {
      await page.evaluate('document.querySelector("[role=grid]").scrollTo(0, 0)');
      await settled(page);
      rows.push(rowOf(name, await watch(opened, async () => await move(opened, seconds))));
    }
    return rows;
  });
}

export function rowOf(name: string, motion: Motion): string[] {
  return [
    name,
    String(motion.frames),
    milliseconds(motion.longestFrameMs),
    String(motion.lateFrames),
    milliseconds(motion.longestTaskMs),
    String(motion.longTasks),
    milliseconds(motion.longestCpuMs),
    String(motion.longCpuTasks),
    `${(motion.load * 100).toFixed(0)} %`,
  ];
}

/** Every cell that is seen is there. */
async function settled(page: Opened['page']): Promise<void> {
  await page.locator('.grid-plain-wait').first().waitFor({ state: 'detached' });
}

type Move = (opened: Opened, seconds: number) => Promise<void>;

const MOVES: readonly (readonly [name: string, move: Move])[] = [
  ['down, slowly', wheel(0, 60)],
  ['down, fast', wheel(0, 1500)],
  ['sideways, slowly', wheel(60, 0)],
  ['sideways, fast', wheel(900, 0)],
  ['bar dragged down', drag('down')],
  ['bar dragged sideways', drag('sideways')],
  ['arrow keys held', keys(['ArrowDown', 'ArrowRight'])],
  ['pages by key', keys(['PageDown', 'PageDown', 'PageDown', 'Control+ArrowRight'])],
];

/** Turns of the wheel, twenty a second, in this direction and at each end back. */
function wheel(x: number, y: number): Move {
  return async ({ page }, seconds) => {
    const { left, top, width, height } = await boxOf(page);
    await page.mouse.move(left + width / 2, top + height / 2);
    const until = performance.now() + seconds * 1000;
    let sign = 1;
    while (performance.now() < until) {
      await page.mouse.wheel(x * sign, y * sign);
      await page.waitForTimeout(50);
      if (await page.evaluate<boolean>(isAtEnd(x !== 0, sign))) sign = -sign;
    }
  };
}

const isAtEnd = (isSideways: boolean, sign: number): string => `{
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = document.querySelector('[role=grid]');
  const [at, end] = ${isSideways ? '[scrollLeft, scrollWidth - clientWidth]' : '[scrollTop, scrollHeight - clientHeight]'};
  ${sign > 0 ? 'at >= end - 1' : 'at <= 0'}
}`;

/** The thumb of a scroll bar is taken and carried about. */
function drag(direction: 'down' | 'sideways'): Move {
  return async ({ page }, seconds) => {
    const { left, top, width, height, bar } = await boxOf(page);
    const next = random(7);
    const isDown = direction === 'down';
    const to = async (part: number, steps: number): Promise<void> => {
      const x = isDown ? left + width - bar / 2 : left + bar + part * (width - 3 * bar);
      const y = isDown ? top + bar + part * (height - 3 * bar) : top + height - bar / 2;
      await page.mouse.move(x, y, { steps });
    };
    await to(0.02, 1);
    await page.mouse.down();
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      await to(next(), 6);
      await page.waitForTimeout(100);
    }
    await page.mouse.up();
  };
}

function keys(pressed: readonly string[]): Move {
  return async ({ page }, seconds) => {
    await page.getByRole('grid').focus();
    const until = performance.now() + seconds * 1000;
    for (let n = 0; performance.now() < until; n++) {
      await page.keyboard.press(pressed[n % pressed.length] ?? '');
      await page.waitForTimeout(25);
    }
  };
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** How thick a scroll bar is. */
  readonly bar: number;
}

async function boxOf(page: Opened['page']): Promise<Box> {
  return await page.evaluate<Box>(`{
    const grid = document.querySelector('[role=grid]');
    const { left, top, width, height } = grid.getBoundingClientRect();
    ({ left, top, width, height, bar: grid.offsetWidth - grid.clientWidth })
  }`);
}
