import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, useConsole } from './harness.ts';

const COMPONENT = 'ex-generic-v2';

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Configuration as JSON' });

describe.skipIf(CHROMIUM === undefined)('what somebody types', () => {
  const own = useConsole({ parts: [dataPart, workshopPart({ command: [process.execPath, MAIN] })] });
  const configs = () => own.client.configurations(COMPONENT);

  async function typing(id: string): Promise<{ page: Page; save: () => Promise<void> }> {
    await configs().create({ configurationId: id, name: id, configuration: { parameters: {} } });
    const { page } = await own.open(`/sources/${COMPONENT}/${id}?tab=json`, {
      expects: [/401|502|503|ERR_CONNECTION|Failed to load/],
    });
    await editorOf(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{ "parameters": { "typed": "before" } }');
    const save = async (): Promise<void> =>
      await page.getByRole('button', { name: 'Save', exact: true }).click();
    return { page, save };
  }
  const contentOf = async (id: string): Promise<unknown> => (await configs().detail(id)).configuration;

  test('lasts when the session ends, and is saved after a link in another tab', async () => {
    const { page, save } = await typing('ended');
    const context = page.context();
    await context.clearCookies();
    // Typing starts a check for problems, whose answer shows at once that the session is over.
    await page.keyboard.insertText(' ');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate('document.activeElement?.closest("dialog") !== null')).toBe(true);
    await page.keyboard.press('Escape');
    expect(await dialog.count()).toBe(1);
    const other = await context.newPage();
    await other.goto(await own.link());
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(async () => await editorOf(page).textContent()).toContain('"typed": "before"');
    await save();
    await expect.poll(async () => await contentOf('ended')).toEqual({ parameters: { typed: 'before' } });

    await other.getByRole('button', { name: 'Your session' }).first().click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await dialog.waitFor();
    await expect.poll(async () => await editorOf(page).textContent()).toContain('"typed": "before"');
  });

  test('lasts while the service is away, which is asked now and then and goes on by itself', async () => {
    const { page, save } = await typing('away');
    await own.away();
    let asked = 0;
    page.on('request', () => (asked += 1));
    await save();
    await page.getByText('Trying again').waitFor();
    asked = 0;
    const begin = performance.now();
    await page.waitForTimeout(6000);
    // One look at it every two seconds, and what the view does by itself.
    expect(asked / (performance.now() - begin)).toBeLessThan(12 / 6000);
    expect(await page.getByText('Trying again').count()).toBe(1);
    await expect.poll(async () => await editorOf(page).textContent()).toContain('"typed": "before"');
    expect(await axe(page)).toEqual([]);
    await own.back();
    await page.getByText('Trying again').waitFor({ state: 'detached' });
    await save();
    await expect.poll(async () => await contentOf('away')).toEqual({ parameters: { typed: 'before' } });
  });
});
