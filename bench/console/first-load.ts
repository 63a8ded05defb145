import { median, milliseconds } from '../support/figures.ts';
import { withPage } from './browser.ts';
import type { Service } from './service.ts';

const TIMES = 5;

/** There is what the address is about, and nothing is still on its way. */
export const READY = `addEventListener('DOMContentLoaded', () => {
  const look = () => {
    const main = document.querySelector('main');
    if (main?.querySelector('h1') && !main.querySelector('.skeleton, [aria-busy=true], .grid-plain-wait'))
      document.documentElement.dataset.ready = String(performance.now());
    else setTimeout(look, 5);
  };
  look();
});`;

/** From an empty cache and a link that signs in, until a view is there. */
export async function firstLoad(service: Service, places: readonly string[]): Promise<string[][]> {
  const rows: string[][] = [];
  for (const place of places) {
    const times: number[] = [];
    let bytes = 0;
    for (let n = 0; n < TIMES; n++) {
      const one = await loadOnce(await service.link(place));
      times.push(one.readyMs);
      bytes = Math.max(bytes, one.bytes);
    }
    rows.push([
      place,
      `${(bytes / 1000).toFixed(0)} kB`,
      milliseconds(median(times)),
      milliseconds(Math.max(...times)),
    ]);
  }
  return rows;
}

async function loadOnce(link: string): Promise<{ readonly readyMs: number; readonly bytes: number }> {
  return await withPage(async ({ page, tools }) => {
    let bytes = 0;
    // Heads and bodies as they came over the wire.
    tools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await tools.send('Network.enable');
    await page.addInitScript(READY);
    await page.goto(link, { waitUntil: 'commit' });
    const ready = await page.waitForSelector('html[data-ready]');
    return { readyMs: Number(await ready.getAttribute('data-ready')), bytes };
  });
}
