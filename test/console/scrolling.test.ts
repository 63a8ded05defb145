import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/transfer/body.ts';
import { axe, CHROMIUM, useConsole } from './harness.ts';

const ROWS = 2000;
const COLUMNS = 90;
/** Longer texts are cut in a cell. */
const LONGEST = 160;

const NAMES = Array.from({ length: COLUMNS }, (_, column) => `column_${column}`);

function textAt(row: number, column: number): string {
  if (column === 0) return String(row);
  if ((row + column) % 11 === 0) return '';
  return column % 17 === 0 ? `${row}:${column} ${'long '.repeat(50)}` : `${row}:${column}`;
}

describe.skipIf(CHROMIUM === undefined)('a large table that is scrolled', () => {
  const own = useConsole();

  beforeAll(async () => {
    await own.client.buckets.create({ name: 'main', stage: 'in' });
    const lines = Array.from({ length: ROWS }, (_, row) =>
      NAMES.map((_name, column) => textAt(row, column)).join(),
    );
    const csv = `${[NAMES.join(), ...lines].join('\n')}\n`;
    const { id } = await own.client.files.upload(bytesBody(csv), { name: 'large.csv' });
    await own.client.tables.create('in.c-main', { name: 'large', dataFileId: id });
  });

  test.each([
    ['as it is', '', (row: number) => row],
    ['sorted', '?sort=column_0&down=1', (row: number) => ROWS - 1 - row],
    [
      'with other columns',
      `?columns=${[0, 80, 3, 60, 5, 17, 2, 88, 51, 4, 7].map((n) => `column_${n}`).join()}`,
      (row: number) => row,
    ],
  ])('%s, has no cell in a wrong place at any time', async (_name, query, rowOf) => {
    const { page } = await own.open(`/tables/in.c-main.large${query}`);
    await settled(page);
    await page.evaluate(RECORD);
    const grid = page.getByRole('grid');
    const next = random(query.length);
    for (let n = 0; n < 12; n++) {
      await page.evaluate(
        `{ const grid = document.querySelector('[role=grid]'); grid.scrollTo(${next()} * grid.scrollWidth, ${next()} * grid.scrollHeight); }`,
      );
      // Some places are left before they are there.
      if (n % 3 === 0) await settled(page);
    }
    await grid.hover();
    for (let n = 0; n < 20; n++) await page.mouse.wheel(next() * 900 - 400, next() * 3000 - 1200);
    await settled(page);
    await grid.focus();
    for (const key of ['ArrowDown', 'Control+End', 'PageUp', 'Home', 'PageUp', 'End', 'ArrowUp', 'ArrowLeft'])
      await page.keyboard.press(key);
    await settled(page);
    const active = await grid.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).getAttribute('class')).toContain('grid-cell-active');

    const seen = await page.evaluate<Seen[]>('window.seenCells()');
    const wrong = seen.filter(({ row, column, text, isWaiting }) => {
      const whole = textAt(rowOf(row), NAMES.indexOf(column));
      return text !== (isWaiting ? '' : whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole);
    });
    expect(wrong).toEqual([]);
    expect(await page.evaluate('window.seenTroubles()')).toEqual([]);
    expect(seen.filter(({ isWaiting }) => !isWaiting).length).toBeGreaterThan(1000);
    // Every visible position has a cell, and none is empty.
    expect(await page.evaluate(HOLES)).toEqual([]);
    expect(await axe(page)).toEqual([]);
  });
});

interface Seen {
  /** From 0 on. */
  readonly row: number;
  /** Title of the column above it. */
  readonly column: string;
  readonly text: string;
  readonly isWaiting: boolean;
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('gridcell').first().waitFor();
  // Newly visible cells are drawn with the next frame, and requested then.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.locator('.grid-plain-wait').first().waitFor({ state: 'detached' });
}

/** Notes each cell of each frame as someone sees it: beside which number, below which title. */
const RECORD = `{
  const seen = new Map();
  const troubles = new Set();
  const grid = document.querySelector('[role=grid]');
  const isRising = (elements, name) =>
    elements.every((element, i) => i === 0 || Number(element.getAttribute(name)) === Number(elements[i - 1].getAttribute(name)) + 1);
  const look = () => {
    const heads = new Map([...grid.querySelectorAll('[role=columnheader]')].map((head) => [head.getAttribute('aria-colindex'), head]));
    const rows = [...grid.querySelectorAll('.grid-body > [role=row]')];
    if (!isRising(rows, 'aria-rowindex')) troubles.add('rows are not in their order');
    for (const row of rows) {
      const index = Number(row.getAttribute('aria-rowindex')) - 2;
      if (row.style.top !== index * 32 + 'px') troubles.add('row ' + index + ' is elsewhere');
      const cells = [...row.children];
      if (!isRising(cells, 'aria-colindex')) troubles.add('cells are not in their order');
      for (const cell of cells) {
        const head = heads.get(cell.getAttribute('aria-colindex'));
        const column = head?.title ?? 'none';
        if (head?.style.left !== cell.style.left || head?.style.width !== cell.style.width) troubles.add('a cell is not below ' + column);
        const isWaiting = cell.classList.contains('grid-plain-wait');
        seen.set([index, column, cell.textContent, isWaiting].join('|'), { row: index, column, text: cell.textContent, isWaiting });
      }
    }
    requestAnimationFrame(look);
  };
  look();
  window.seenCells = () => [...seen.values()];
  window.seenTroubles = () => [...troubles];
}`;

/** Places of what is seen where there is no cell, or none that is filled. */
const HOLES = `{
  const grid = document.querySelector('[role=grid]');
  const { left, top } = grid.getBoundingClientRect();
  const holes = [];
  for (let x = 4; x < Math.min(grid.clientWidth, grid.scrollWidth); x += 60)
    for (let y = 40; y < Math.min(grid.clientHeight, grid.scrollHeight); y += 20) {
      const found = document.elementFromPoint(left + x, top + y);
      const cell = found?.closest('[role=gridcell]');
      // Between two rows is a line.
      if (found?.closest('[role=row]') === null || (cell !== null && cell?.classList.contains('grid-plain-wait'))) holes.push([x, y]);
    }
  holes
}`;

/** Numbers from 0 to 1, the same ones each time. */
function random(seed: number): () => number {
  let state = seed + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
