import type { Page } from 'playwright-core';
import { fillLarge } from '../../test/console/large-service.ts';
import { VIEWS } from '../../test/console/large-views.ts';
import { milliseconds } from '../support/figures.ts';
import { watch, withPage, type Opened } from './browser.ts';
import { READY } from './first-load.ts';
import { rowOf } from './scrolling.ts';
import { startService, type Service } from './service.ts';

export const VIEWS_HEAD = ['', 'until shown', 'longest task', 'its processor time', 'over 50 ms'];

export interface ViewsFound {
  readonly shown: string[][];
  readonly scrolled: string[][];
}

/** Every view over a service that has been at work for long: until it is shown, and what is in it scrolled. */
export async function views(folder: string, seconds: number): Promise<ViewsFound> {
  const first = await startService(folder);
  await first.stop();
  await fillLarge(folder);
  const service = await startService(folder, first.token);
  try {
    return await withPage(async (opened) => await lookAtAll(opened, service, seconds));
  } finally {
    await service.stop();
  }
}

async function lookAtAll(opened: Opened, service: Service, seconds: number): Promise<ViewsFound> {
  const { page } = opened;
  const found: ViewsFound = { shown: [], scrolled: [] };
  await page.goto(await service.link('/'));
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  await page.addInitScript(READY);
  for (const [name, at, ready] of VIEWS) {
    let shownMs = 0;
    const opening = await watch(opened, async () => {
      // A whole new page each time, whose files the browser has.
      await page.goto(service.url + at, { waitUntil: 'commit' });
      await page.waitForSelector('html[data-ready]');
      await page.getByText(ready).filter({ visible: true }).first().waitFor();
      shownMs = await page.evaluate<number>('performance.now()');
    });
    found.shown.push([
      name,
      ...[shownMs, opening.longestTaskMs, opening.longestCpuMs].map(milliseconds),
      String(opening.longCpuTasks),
    ]);
    for (const [part, place] of Object.entries(await placesOf(page))) {
      const motion = await watch(opened, async () => await scroll(page, place, seconds));
      found.scrolled.push(rowOf(part === 'page' ? name : `${name}, ${part}`, motion));
    }
  }
  return found;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Returns where the wheel moves something: the page itself, and each of its lists that is longer than its space. */
async function placesOf(page: Page): Promise<Readonly<Record<string, Place>>> {
  return await page.evaluate<Record<string, Place>>(`{
    const places = {};
    for (const each of document.querySelectorAll('main, main *')) {
      const { overflowY } = getComputedStyle(each);
      if (!/auto|scroll/.test(overflowY) || each.scrollHeight < each.clientHeight + 100) continue;
      const { left, top, width, height } = each.getBoundingClientRect();
      const y = Math.min(top + height / 2, innerHeight - 20);
      if (y < top || y < 0) continue;
      places[each.getAttribute('aria-label') ?? each.className] = { x: left + width / 2, y };
    }
    if (document.scrollingElement.scrollHeight > innerHeight + 100) places.page = { x: innerWidth - 20, y: innerHeight / 2 };
    places
  }`);
}

/** Turns the wheel down and up again, twenty times a second. */
async function scroll(page: Page, { x, y }: Place, seconds: number): Promise<void> {
  await page.mouse.move(x, y);
  const turns = Math.max(2, Math.round(seconds * 20));
  for (let n = 0; n < turns; n++) {
    await page.mouse.wheel(0, n % 20 < 14 ? 900 : -1200);
    await page.waitForTimeout(50);
  }
}
