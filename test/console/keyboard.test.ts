import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { json, startApi } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { CHROMIUM, useConsole } from './harness.ts';

const command = [process.execPath, MAIN] as const;

describe.skipIf(CHROMIUM === undefined)('by keys alone', () => {
  const own = useConsole({
    parts: [dataPart, runnerPart({ command, concurrency: 1, pollMs: 100 }), workshopPart({ command })],
  });

  test('a source is made, run and followed, and its table looked at and downloaded', async () => {
    const api = await startApi((_request, response) => json(response, [{ id: 1, name: 'Dune' }]));
    const { page } = await own.open('/');
    await goTo(page, 'sources');
    await page.getByRole('button', { name: 'From scratch' }).waitFor();

    await tabTo(page, 'From scratch');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'A source from scratch' }).waitFor();
    await expect.poll(async () => await focused(page)).toBe('Name');
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      // Beyond its last control is the browser itself, and nothing of the page behind.
      expect(await page.evaluate('document.activeElement?.closest("dialog, body").tagName')).toBe(
        (await focused(page)) === '' ? 'BODY' : 'DIALOG',
      );
    }
    await page.keyboard.press('Escape');
    await expect.poll(async () => await focused(page)).toBe('From scratch');

    await page.keyboard.press('Enter');
    await expect.poll(async () => await focused(page)).toBe('Name');
    await page.keyboard.type('Library');
    await tabTo(page, 'Base address');
    await page.keyboard.type(api.url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    await tabTo(page, 'Bucket');
    await page.keyboard.type('library');
    await tabTo(page, 'Add a job');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Endpoint');
    await page.keyboard.type('books');
    await tabTo(page, 'Save');
    await page.keyboard.press('Enter');
    await page.getByText('Saved', { exact: true }).first().waitFor();

    await page.evaluate('window.scrollTo(0, 0)');
    await tabTo(page, 'Run now');
    await page.keyboard.press('Enter');
    await page.getByText('Done', { exact: true }).waitFor({ timeout: 100_000 });

    await goTo(page, 'library.books');
    await page.getByRole('gridcell', { name: 'Dune' }).waitFor();
    await tabTo(page, 'Rows of in.c-library.books');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Row 1' }).getByText('Dune').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(async () => await focused(page)).toBe('Rows of in.c-library.books');
    await tabTo(page, 'Export');
    await page.keyboard.press('Enter');
    await expect.poll(async () => await focused(page)).toBe('CSV');
    await page.keyboard.press('Escape');
    await expect.poll(async () => await focused(page)).toBe('Export');
    await page.keyboard.press('Enter');
    await expect.poll(async () => await focused(page)).toBe('CSV');
    const download = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    expect((await download).suggestedFilename()).toBe('in.c-library.books.csv');
  });

  test('the palette and the keys are opened and closed, and the focus is where it was', async () => {
    const { page } = await own.open('/files');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await tabTo(page, 'Choose files');
    for (const key of ['Control+k', '?']) {
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(async () => await focused(page)).toBe('Choose files');
    }
    await page.keyboard.press('/');
    await expect.poll(async () => await focused(page)).toMatch(/^Search/);
    // A list without a search is narrowed by a choice.
    await page.goto(`${own.url}/runs`);
    await page.getByLabel('Status').waitFor();
    await page.keyboard.press('/');
    await expect.poll(async () => await focused(page)).toBe('Source');
  });
});

async function goTo(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type(words);
  await page
    .getByRole('option', { name: new RegExp(words, 'i') })
    .first()
    .waitFor();
  await page.keyboard.press('Enter');
}

/** Returns the name of the focused element; empty if no element of the page has the focus. */
async function focused(page: Page): Promise<string> {
  return await page.evaluate<string>(`(() => {
    const at = document.activeElement;
    if (at === null || at === document.body || at.tagName === 'DIALOG') return '';
    return (at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent).trim();
  })()`);
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 120; i++) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`No way by Tab leads to “${name}”: the focus is on “${await focused(page)}”.`);
}
