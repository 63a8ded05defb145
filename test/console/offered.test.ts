import type { Locator, Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { StorageClient } from '../../src/storage/client/index.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { fillService, type Filled } from './full-service.ts';
import { CHROMIUM, underWay, useConsole } from './harness.ts';

const command = [process.execPath, MAIN] as const;
const SHOP = '/sources/ex-generic-v2/shop';
const USERS = '/tables/in.c-main.users';

type Places = readonly (string | ((filled: Filled) => string))[];

const DATA: Places = [
  '/',
  '/tables',
  '/tables?by=bucket',
  '/tables/in.c-main',
  '/tables/in.c-main?tab=metadata',
  USERS,
  `${USERS}?tab=columns`,
  `${USERS}?tab=origin`,
  `${USERS}?tab=history`,
  `${USERS}?tab=metadata`,
  '/tables/new',
  '/sql',
  '/jobs',
  ({ exportJob }) => `/jobs/${exportJob}`,
  '/files',
  '/alerts',
  '/tokens',
];
/** Places of sources and runs, for a token that sees none. */
const UNSEEN: Places = [SHOP, '/sources', '/runs', '/runs/problems', '/runs/schedules', '/new'];
const SOURCES: Places = [
  '/sources',
  '/sources?show=trash',
  SHOP,
  `${SHOP}?tab=settings`,
  `${SHOP}?tab=json`,
  `${SHOP}?tab=rows`,
  `${SHOP}?tab=state`,
  `${SHOP}?tab=versions`,
  `${SHOP}/rows/users`,
  '/sources/ex-generic-v2/failing',
  '/runs',
  '/runs/problems',
  '/runs/charts',
  '/runs/schedules',
  '/runs/schedules/ex-generic-v2/good',
  ({ runs }) => `/runs/${runs.failing}`,
  ({ runs }) => `/runs/${runs.doubtful}?tab=requests`,
  ({ runs }) => `/runs/${runs.good}?tab=compare`,
  '/alerts?tab=sources',
  '/new',
];
/** Places to which links lead only a token that sees all. */
const REST: Places = [
  '/tables/out.c-empty',
  ({ file }) => `/files/${file}`,
  ({ alert }) => `/alerts/${alert}`,
];

/** Tokens that may do little. The last one sees all, and changes nothing. */
const TOKENS = {
  reader: { bucketPermissions: { 'in.c-main': 'read' } },
  operator: { bucketPermissions: { 'in.c-main': 'read' }, componentAccess: ['ex-generic-v2'] },
  observer: { canManageBuckets: true, canReadAllFileUploads: true, isReadOnly: true },
} satisfies Record<string, Parameters<StorageClient['tokens']['create']>[0]>;
type Who = keyof typeof TOKENS;

const SEEN: Readonly<Record<Who, Places>> = {
  reader: [...DATA, ...UNSEEN],
  operator: SOURCES,
  observer: [...DATA, ...SOURCES, ...REST],
};

/** Not those that sort a table, or show another part of a page, which has an address of its own. */
const BUTTONS = 'button:enabled:visible:not([role="tab"]):not([role="grid"] *)';

/** Buttons that end what the test needs, or leave the page: that they are there is enough. */
const LEFT_OUT: Readonly<Record<Who, RegExp>> = {
  reader: /^$/,
  operator: /^(?:Delete|Restore|Cancel)/,
  observer: /^$/,
};

describe.skipIf(CHROMIUM === undefined)('nothing is offered that is refused', () => {
  const own = useConsole({
    parts: [dataPart, runnerPart({ command, concurrency: 3, pollMs: 100 }), workshopPart({ command })],
  });
  let filled: Filled;
  const pages = new Map<Who, Page>();
  /** Requests that are not answered yet. */
  const asked = new Map<Page, ReadonlySet<Request>>();
  const refused = new Set<string>();
  let doing = '';

  beforeAll(async () => {
    filled = await fillService(own.client);
    for (const who of Object.keys(TOKENS) as Who[]) {
      const { token = '' } = await own.client.tokens.create({ description: who, ...TOKENS[who] });
      // Things that are not there, and refusals: the latter are what this is about.
      const { page } = await own.open('/', {
        token,
        expects: [/status of 40[0-9]/, /: the message of the dialog/],
      });
      // It asks whether to leave what is not saved.
      page.on('dialog', (dialog) => void dialog.accept());
      asked.set(page, underWay(page));
      page.on('response', (response) => {
        if (response.status() === 403)
          refused.add(`${doing}: ${response.request().method()} ${new URL(response.url()).pathname}`);
      });
      pages.set(who, page);
    }
  });

  const cases = (Object.keys(TOKENS) as Who[]).flatMap((who) =>
    SEEN[who].map((place) => ({
      who,
      name: typeof place === 'string' ? place : String(place),
      place,
    })),
  );
  test.each(cases)('$who: $name', async ({ who, place }) => {
    const page = pages.get(who);
    if (page === undefined) throw new Error('Only within a test.');
    const at = own.url + (typeof place === 'string' ? place : place(filled));
    refused.clear();
    doing = 'shown';
    await show(page, at);
    const buttons = page.getByRole('main').locator(BUTTONS);
    const names = await namesOf(buttons);
    // One of a list of requests or rows is like the other.
    const kinds = names.map((name) => name.replaceAll(/\d+/g, '').slice(0, 12));
    for (const [index, name] of names.entries()) {
      if (LEFT_OUT[who].test(name) || kinds.indexOf(kinds[index] ?? '') !== index) continue;
      // One before it may have made it needless, such as one that resumes what is paused.
      const now = (await namesOf(buttons)).indexOf(name);
      if (now < 0) continue;
      doing = name;
      await buttons.nth(now).click();
      await confirm(page);
      await settle(page);
      const isOpen = (await page.getByRole('dialog').count()) > 0;
      if (isOpen || page.url() !== at || (await namesOf(buttons)).join() !== names.join())
        await show(page, at);
    }
    expect([...refused]).toEqual([]);
  });

  test('no run is offered to a token that may not write where its rows would go', async () => {
    const page = pages.get('operator');
    if (page === undefined) throw new Error('Only within a test.');
    const lacks = /^The token “operator” may not write into the bucket in\.c-/;
    for (const place of [SHOP, `${SHOP}/rows/users`]) {
      await page.goto(own.url + place);
      await page.getByText(lacks).waitFor();
      await expect
        .poll(async () => await page.getByRole('button', { name: /^Run (?:now|this row)$/ }).count())
        .toBe(0);
    }
    await page.goto(`${own.url}/runs/${filled.runs.good}`);
    await page.getByText('It ended:').waitFor();
    await expect.poll(async () => await page.getByRole('button', { name: 'Run again' }).count()).toBe(0);
    await page.goto(`${own.url}/runs`);
    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.getByRole('dialog').getByLabel('Source').selectOption({ label: 'Books of good' });
    await page.getByRole('alert').getByText(lacks).waitFor();
    expect(await page.getByRole('button', { name: 'Start the run' }).isDisabled()).toBe(true);
  });

  async function show(page: Page, at: string): Promise<void> {
    await page.goto(at);
    await page.getByRole('main').getByRole('heading').first().waitFor();
    await settle(page);
  }

  /** Waits for the answers to what was asked; the stream of events never ends. */
  async function settle(page: Page): Promise<void> {
    await expect.poll(() => [...(asked.get(page) ?? [])].map((request) => request.url())).toEqual([]);
    await expect.poll(async () => await page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
  }

  /** Goes on with what a button has opened, as far as it can be done without typing. */
  async function confirm(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog');
    for (let depth = 0; depth < 3 && (await dialog.count()) > 0; depth++) {
      const submit = dialog.last().locator('button[type="submit"]:enabled, .button-danger:enabled');
      if (depth === 0 && (await submit.count()) > 0) await submit.first().click();
      await settle(page);
      await page.keyboard.press('Escape');
    }
  }
});

async function namesOf(buttons: Locator): Promise<string[]> {
  return await buttons.evaluateAll(
    (all: { readonly ariaLabel: string | null; readonly innerText: string }[]) =>
      all.map(({ ariaLabel, innerText }) => ariaLabel ?? innerText.trim()),
  );
}
