import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import axeCore from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, TestRunner } from 'vitest';
import { StorageClient } from '../../src/storage/client/index.ts';
import { createService, type Service, type ServiceOptions } from '../../src/service/start/service.ts';
import { forgetDatabase, placeOf } from '../service/database.ts';

/** Path of the browser; undefined if there is none, and the tests are skipped. */
export const CHROMIUM = [
  process.env['CHROMIUM_PATH'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
].find((file) => file !== '' && existsSync(file));
if (CHROMIUM === undefined)
  console.log(
    'Skipped: there is no Chromium here. Name one in CHROMIUM_PATH, or install the package chromium.',
  );

export interface Console {
  readonly service: Service;
  /** Address of the service. */
  readonly url: string;
  readonly dir: string;
  /** The master token. */
  readonly token: string;
  /** A client with the master token, to prepare what is looked at. */
  readonly client: StorageClient;
  /** A link that signs in, once. */
  link(token?: string): Promise<string>;
  /** A page of a browser of its own, signed in, at a path of the console. */
  open(at?: string, options?: OpenOptions): Promise<Opened>;
  /** The same, without anyone signed in. */
  visit(url: string, options?: OpenOptions): Promise<Opened>;
  /** Stops the service, as if it were away; {@link start} has it back at the same address. */
  away(): Promise<void>;
  back(): Promise<void>;
}

export interface OpenOptions {
  /** Default 1440. */
  readonly width?: number;
  readonly height?: number;
  /** Default light. */
  readonly theme?: 'dark' | 'light';
  /** Token of the session; default: the master token. */
  readonly token?: string;
  /** Messages of the console of the browser that the test is about, such as `/401/`. */
  readonly expects?: readonly RegExp[];
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors so far: of scripts, of the console, of the policy, and requests to other hosts. */
  readonly troubles: string[];
}

/**
 * A real service over a folder of its own (with TEST_DATABASE_URL, also over a database of its own), and a real browser, for
 * the tests of one file. At the end of each page it is
 * checked that nothing went wrong in it: no error, nothing against the policy, no request to elsewhere.
 */
export function useConsole(options: Partial<ServiceOptions> = {}): Console {
  let browser: Browser | undefined;
  let service: Service | undefined;
  let dir = '';
  let url = '';
  let token = '';
  let client: StorageClient | undefined;
  const opened: Opened[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'console-test-'));
    await start();
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      // Without one it cannot read files whose names have other letters.
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-features=Translate,OptimizationHints,MediaRouter',
      ],
    });
  });

  afterAll(async () => {
    await browser?.close();
    client?.close();
    await service?.stop();
    await forgetDatabase(dir);
    await rm(dir, { recursive: true, force: true });
    // Last, so that a failure leaves nothing running.
    expect(opened.flatMap(({ troubles }) => troubles)).toEqual([]);
  });

  async function start(): Promise<void> {
    const port = url === '' ? 0 : Number(new URL(url).port);
    service = createService({ ...(await placeOf(dir)), graceMs: 500, ...options, port });
    const addresses = await service.start();
    url = addresses.url;
    token = addresses.masterToken ?? token;
    client ??= new StorageClient({ url, token });
  }

  const own: Console = {
    get service() {
      return need(service);
    },
    get url() {
      return url;
    },
    get dir() {
      return dir;
    },
    get token() {
      return token;
    },
    get client() {
      return need(client);
    },
    link: async (of = token) => `${url}/#code=${await need(service).newCode(of)}`,
    async open(at = '/', { token: of = token, ...how } = {}) {
      const code = await need(service).newCode(of);
      const found = await own.visit(`${url}${at}#code=${code}`, how);
      await found.page.getByRole('main').waitFor();
      return found;
    },
    async visit(address, { width = 1440, height = 900, theme = 'light', expects = [] } = {}) {
      const context = await need(browser).newContext({ viewport: { width, height }, colorScheme: theme });
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const troubles: string[] = [];
      const note = (text: string): void => {
        if (!expects.some((pattern) => pattern.test(text))) troubles.push(text);
      };
      page.on('pageerror', (error) => note(`page: ${error.stack ?? error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') note(`console: ${message.text()}`);
      });
      page.on('request', (request) => {
        const target = new URL(request.url());
        if (/^https?:$/.test(target.protocol) && target.origin !== url) note(`elsewhere: ${request.url()}`);
      });
      const found = { page, context, troubles };
      opened.push(found);
      // It would ask on beside the tests behind it, also while they have the service away; that of all tests stays.
      if (TestRunner.getCurrentTest() !== undefined) onTestFinished(async () => await context.close());
      await page.goto(address);
      return found;
    },
    async away() {
      await need(service).stop();
    },
    back: start,
  };
  return own;
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('Only within a test: the service runs when these begin.');
  return value;
}

/** Follows the requests of a page. @returns those that are not answered yet; streams of events, which never end, are left out */
export function underWay(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (!/\/(?:changes|events)(?:\?|$)/.test(request.url())) open.add(request);
  });
  const end = (request: Request): void => void open.delete(request);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return open;
}

/** Counts the bytes that the storage API answers to a page. @returns a function that tells them since it was called last */
export function bytesAnswered(page: Page): () => Promise<number> {
  const open = underWay(page);
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.url().includes('/v2/storage/'))
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  return async () => {
    await expect.poll(() => open.size).toBe(0);
    return (await Promise.all(sizes.splice(0))).reduce((sum, size) => sum + size, 0);
  };
}

/** Waits, for some seconds at most, until nothing moves or changes its colour any more; what does so for ever is left out. */
const STILL = `Promise.race([
  new Promise((done) => setTimeout(done, 5000)),
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
    Promise.all(document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
      .map(({ finished }) => finished.catch(() => undefined)))),
]).then(() => undefined)`;

/** Returns the accessibility violations of a page in words, by all rules. */
export async function axe(page: Page): Promise<string[]> {
  // A colour on its way to another one has no contrast that anybody chose.
  await page.evaluate(STILL);
  // By the protocol of the tools, which the policy of the page is not about.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeCore.source);
  return await page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map((violation) =>
      violation.id + ': ' + violation.help + ' ' + violation.nodes.slice(0, 5).map((node) => node.target.join(' ') + ' ' + node.failureSummary).join('; ')))`,
  );
}

/** Marks of code, values that are none, a schedule as cron has it, and one of several: no sentence says them. */
const ODD: readonly RegExp[] = [
  /.{0,20}`.{0,20}/,
  /.{0,20}\b(?:undefined|NaN|Infinity|\[object \w+\])(?!\w).{0,20}/,
  /.{0,20}(?:\* ){3}\*.{0,20}/,
  /(?<![\d,.–-])1 (?:bytes|columns|days|files|hours|jobs|lines|minutes|months|pages|requests|rows|runs|schedules|seconds|sources|tables|times|versions)\b.{0,20}/,
];

/** Returns the texts of a page that are no words for people; what is code or comes from elsewhere is left out. */
export async function oddTexts(page: Page): Promise<string[]> {
  const text = await page.evaluate<string>(`(() => {
    const others = [...document.querySelectorAll('code, pre, .mono, .grid-plain, .cm-editor, [role=log], input, textarea')];
    const shown = others.filter((each) => !each.hidden);
    for (const each of shown) each.hidden = true;
    const text = document.body.innerText;
    for (const each of shown) each.hidden = false;
    return text;
  })()`);
  return ODD.flatMap((odd) => odd.exec(text)?.[0] ?? []);
}

/** Returns texts that end with dots; on a wide screen there is space for all of them. */
export async function cutTexts(page: Page, within = 'main'): Promise<readonly string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll(${JSON.stringify(`${within} *`)})]
      .filter((each) => getComputedStyle(each).textOverflow === 'ellipsis' && each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.textContent.slice(0, 80))`,
  );
}

/** Returns the chosen tabs that are cut, or scrolled out of sight. */
export async function hiddenTabs(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll('[role=tab][aria-selected=true]')]
      .filter((tab) => {
        const [own, list] = [tab.getBoundingClientRect(), tab.parentElement.getBoundingClientRect()];
        return own.left < list.left - 1 || own.right > list.right + 1;
      })
      .map((tab) => tab.textContent)`,
  );
}

/** Returns what is cut in a list though other columns have room for it. */
export async function misplaced(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`(() => {
    const found = [];
    for (const grid of document.querySelectorAll('.grid')) {
      const columns = new Map();
      for (const cell of grid.querySelectorAll('[data-column]')) {
        const text = cell.querySelector(':scope > span, :scope > button > span');
        const { paddingLeft, paddingRight } = getComputedStyle(cell);
        const room = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
        const id = cell.getAttribute('data-column');
        const { free = Infinity } = columns.get(id) ?? {};
        if (room - text.scrollWidth < free) columns.set(id, { free: room - text.scrollWidth, text: text.textContent });
      }
      // The sign of the sorting has its place in each column.
      const spare = [...columns.values()].reduce((sum, { free }) => sum + Math.max(0, free - 24), 0);
      for (const [id, { free, text }] of columns)
        if (free < -1 && -free < spare) found.push('cut beside free space: ' + id + ', ' + text.slice(0, 80));
    }
    return found;
  })()`);
}

interface Look {
  readonly width: number;
  readonly theme: 'dark' | 'light';
}

const LOOKS: readonly Look[] = [390, 1440, 2560].flatMap((width) =>
  (['light', 'dark'] as const).map((theme) => ({ width, theme })),
);

/** Has a page narrow, usual and wide, light and dark, one after the other; it is not loaded again. */
export async function* looks(page: Page, name: string): AsyncGenerator<Look> {
  for (const { width, theme } of LOOKS) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    // A script's layout is done in the next frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await picture(page, `${name}-${width}-${theme}`);
    yield { width, theme };
  }
}

/** Pictures of a page for people, narrow and usual, light and dark, in the folder CONSOLE_SCREENSHOTS; none without it. */
export async function screenshots(page: Page, name: string): Promise<void> {
  if (process.env['CONSOLE_SCREENSHOTS'] === undefined) return;
  for await (const look of looks(page, name)) void look;
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['CONSOLE_SCREENSHOTS'];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

/** Drops a file on the place for files. */
export async function drop(page: Page, name: string, content: Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const bytes = Uint8Array.from(atob(${JSON.stringify(content.toString('base64'))}), (c) => c.charCodeAt(0));
      const transfer = new DataTransfer(); transfer.items.add(new File([bytes], ${JSON.stringify(name)})); return transfer; })()`,
  );
  await page.dispatchEvent('.drop-zone', 'drop', { dataTransfer: transfer });
}
