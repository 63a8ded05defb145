// node scripts/console-pictures.ts: the pictures of the README, taken of the built console over the data of the demo.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startLibraryApi, type LibraryApi } from '../src/cli/demo/library-api.ts';
import { StorageClient } from '../src/storage/client/index.ts';
import { startService, type DemoService } from './demo/command.ts';
import { COMPONENT, CONFIGURATION, createConfiguration } from './demo/configuration.ts';

const FOLDER = fileURLToPath(new URL('../docs/images', import.meta.url));
const MAX_BYTES = 150_000;
const VIEWPORT = { width: 1280, height: 800 };

const folder = mkdtempSync(path.join(tmpdir(), 'console-pictures-'));
const api = await startLibraryApi();
const service = await startService(['serve', '--port', '0', '--s3-port', '0', '--importer-port', '0'], {
  folder,
});
const client = new StorageClient({ url: service.url, token: service.token });
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  mkdirSync(FOLDER, { recursive: true });
  await fill(client, api);
  await startPage(await open(browser, service, 'light'));
  await newSource(await open(browser, service, 'dark'), api);
} finally {
  await browser.close();
  client.close();
  await service.stop();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
}

/** A source that runs twice, and books that come in between. */
async function fill(storage: StorageClient, library: LibraryApi): Promise<void> {
  await createConfiguration(storage, library.baseUrl);
  await runOnce(storage);
  library.addBook('The Sea Around Us', 'Rachel Carson');
  await runOnce(storage);
}

async function runOnce(storage: StorageClient): Promise<void> {
  const { id } = await storage.runs.start({ component: COMPONENT, configuration: CONFIGURATION });
  for (;;) {
    const { status, error } = await storage.runs.detail(id);
    if (status === 'success') return;
    if (status === 'error') throw new Error(error?.message);
    await setTimeout(200);
  }
}

async function open(from: Browser, { url }: DemoService, theme: 'dark' | 'light'): Promise<Page> {
  const context = await from.newContext({ viewport: VIEWPORT, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(`${url}/#code=${await client.consoleCode()}`);
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  return page;
}

async function startPage(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Tables changed lately' }).waitFor();
  // There is little to show, and no more height than it needs.
  await page.setViewportSize({ ...VIEWPORT, height: 440 });
  await take(page, 'console-start');
}

async function newSource(page: Page, library: LibraryApi): Promise<void> {
  await page.getByRole('link', { name: 'New source' }).first().click();
  await page.getByLabel('An address, a curl command').fill(`${library.baseUrl}books?since=0`);
  await page.getByRole('button', { name: 'Look at it' }).click();
  await page.getByRole('heading', { name: 'What was found' }).waitFor({ timeout: 60_000 });
  await page.mouse.move(0, 0);
  await take(page, 'console-new-source');
}

async function take(page: Page, name: string): Promise<void> {
  // Wait until elements have faded in.
  await setTimeout(500);
  const file = path.join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  console.log(`${file}: ${size} bytes`);
  if (size > MAX_BYTES) throw new Error(`${file} has more than ${MAX_BYTES} bytes.`);
}
