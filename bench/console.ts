// How fast the console is in a real browser, over a service on loopback.
//
//   node bench/console.ts [--parts load,scrolling,run,large,views,upload] [--seconds 5] [--pages 1000] [--mb 100]
//
// It needs Chromium (CHROMIUM_PATH, else /usr/bin/chromium). Frames are late on a busy machine without a fault of the
// page: what its main thread had of the processor is what can be compared. Run it after `npm run build`.
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { firstLoad } from './console/first-load.ts';
import { large, LARGE_HEAD } from './console/large.ts';
import { liveRun } from './console/live-run.ts';
import { scrolling, SCROLLING_HEAD } from './console/scrolling.ts';
import { startService } from './console/service.ts';
import { makeTable, wideCsv } from './console/tables.ts';
import { upload } from './console/upload.ts';
import { views, VIEWS_HEAD } from './console/views.ts';
import { printTable } from './support/figures.ts';
import { withFolder } from './support/folder.ts';

const ALL = ['load', 'scrolling', 'run', 'large', 'views', 'upload'];
const { values: given } = parseArgs({
  options: {
    parts: { type: 'string', default: ALL.join() },
    seconds: { type: 'string', default: '5' },
    pages: { type: 'string', default: '1000' },
    mb: { type: 'string', default: '100' },
  },
});
const parts = given.parts.split(',');
const unknown = parts.find((name) => !ALL.includes(name));
if (unknown !== undefined) throw new Error(`There is no part “${unknown}”; there are ${ALL.join(', ')}`);

await withFolder(async (folder) => {
  const service = await startService(path.join(folder, 'storage'));
  try {
    await service.client.buckets.create({ name: 'bench', stage: 'in' });
    if (parts.includes('load') || parts.includes('scrolling'))
      await makeTable(service, 'wide', wideCsv(10_000, 200));
    if (parts.includes('load')) {
      const places = [
        '/',
        '/tables',
        '/tables/in.c-bench.wide',
        '/sources',
        '/new',
        '/runs',
        '/jobs',
        '/files',
      ];
      const rows = await firstLoad(service, places);
      say(
        'First load, from an empty cache (bars: 250 kB, 1 s)',
        ['', 'over the wire', 'ready, median', 'ready, slowest'],
        rows,
      );
    }
    if (parts.includes('scrolling')) {
      const rows = await scrolling(service, 'in.c-bench.wide', Number(given.seconds));
      say('10,000 rows × 200 columns (bar: nothing over 50 ms)', SCROLLING_HEAD, rows);
    }
    if (parts.includes('run')) {
      const rows = await liveRun(service, path.join(folder, 'api'), Number(given.pages));
      say(`A run of ${given.pages} pages, followed (bar: 150 MB)`, ['', 'MB'], rows);
    }
    if (parts.includes('large')) {
      const rows = await large(path.join(folder, 'large'));
      say('Very large things (bar: no task over 50 ms)', LARGE_HEAD, rows);
    }
    if (parts.includes('views')) {
      const { shown, scrolled } = await views(path.join(folder, 'views'), Number(given.seconds));
      say('Views over 200 runs, 2,000 tables and 500 sources (bar: 1 s)', VIEWS_HEAD, shown);
      say('Their lists, scrolled (bar: no frame over 50 ms)', SCROLLING_HEAD, scrolled);
    }
    if (parts.includes('upload')) {
      const rows = await upload(service, folder, Number(given.mb));
      say(`A CSV of ${given.mb} MB, dropped into a table`, ['', ''], rows);
    }
  } finally {
    await service.stop();
  }
});

function say(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const [load = 0] = os.loadavg();
  printTable(`${title}; load ${load.toFixed(1)} on ${os.availableParallelism()} cores`, head, rows);
}
