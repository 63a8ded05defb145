import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startMockApi } from '../support/processes.ts';
import { heapMb, peakOf, withPage } from './browser.ts';
import type { Service } from './service.ts';

const RECORDS = 100;
/** So that a run takes long enough to be followed. */
const LATENCY_MS = 20;

/** Memory of the page that follows a run: its overview, and its log. */
export async function liveRun(service: Service, folder: string, pages: number): Promise<string[][]> {
  const api = await startMockApi({ pages, size: RECORDS, latency: LATENCY_MS, config: folder });
  try {
    const text = readFileSync(path.join(folder, 'config.json'), 'utf8');
    const configuration = JSON.parse(text) as Record<string, unknown>; // as the mock API has written it
    await service.client
      .configurations('ex-generic-v2')
      .create({ configurationId: 'bench', name: 'Bench', configuration });
    return [...(await follow(service, '', 'overview')), ...(await follow(service, '?tab=log', 'log'))];
  } finally {
    await api.stop();
  }
}

async function follow(service: Service, tab: string, name: string): Promise<string[][]> {
  return await withPage(async (opened) => {
    const { page } = opened;
    const { id } = await service.client.runs.start({ component: 'ex-generic-v2', configuration: 'bench' });
    await page.goto(await service.link(`/runs/${id}${tab}`));
    await page.getByRole('heading', { name: `Run ${id}` }).waitFor();
    const before = await heapMb(opened);
    const peak = await peakOf(opened, async () => {
      await page.getByText('Done', { exact: true }).waitFor({ timeout: 600_000 });
    });
    return [
      [`${name}: scripts at the beginning`, before.toFixed(1)],
      [`${name}: scripts at their peak`, peak.heapMb.toFixed(1)],
      [`${name}: scripts at the end`, (await heapMb(opened)).toFixed(1)],
      [`${name}: the process of the page at its peak`, peak.privateMb.toFixed(0)],
    ];
  });
}
