import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { COMPILE_CACHE } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, drop, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const workshop = workshopPart({ command: [process.execPath, MAIN] });

const MANIFEST = `
version: 6.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [users]}
definitions:
  requester: {type: HttpRequester, url_base: "https://api.example.com/v1/", path: "users", authenticator: {type: BearerAuthenticator, api_token: "{{ config['api_key'] }}"}}
  selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: [data]}}
streams:
  - type: DeclarativeStream
    name: users
    retriever: {type: SimpleRetriever, requester: {$ref: "#/definitions/requester"}, record_selector: {$ref: "#/definitions/selector"}}
  - type: DeclarativeStream
    name: odd
    retriever: {type: CustomRetriever, class_name: source_x.components.Odd, requester: {$ref: "#/definitions/requester"}, record_selector: {$ref: "#/definitions/selector"}}
spec:
  type: Spec
  connection_specification: {type: object, required: [api_key], properties: {api_key: {type: string, title: API key, airbyte_secret: true}}}
`;

const PYTHON = `
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import NoAuth

class Token(NoAuth):
    @property
    def auth_header(self):
        return "Authorization"

    @property
    def token(self):
        return f"Bearer {self.config['api_key']}"
`;

describe.skipIf(CHROMIUM === undefined)('import from another tool', () => {
  const own = useConsole({ parts: [dataPart, workshop] });

  test('a manifest is dropped, its streams are told one by one, and what was taken over is saved', async () => {
    const { page } = await own.open('/new');
    await page.getByRole('link', { name: 'Import from another tool' }).click();
    await page.getByRole('heading', { name: 'Import from another tool' }).waitFor();
    await drop(page, 'manifest.yaml', Buffer.from(MANIFEST));
    await page.getByText('manifest.yaml').first().waitFor();
    await expect.poll(async () => await page.getByLabel('It is of').inputValue()).toBe('airbyte');
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page
      .getByText('2 streams: 1 exact, 0 with equal rows and other columns, 1 not taken over.')
      .waitFor();
    const odd = page.getByRole('row').filter({ hasText: 'odd' });
    await odd.getByText('not taken over').waitFor();
    await odd.getByText('source_x.components.Odd').first().waitFor();
    await page.getByText('API key').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'import-source');
    await page.getByLabel('Name', { exact: true }).fill('Imported');
    await page.getByRole('button', { name: /^Save/ }).last().click();
    await page.getByRole('heading', { name: 'Imported' }).waitFor();
    const rows = await own.client.configurations('ex-generic-v2').rows('imported').list();
    expect(rows.map(({ id, isDisabled }) => [id, isDisabled])).toEqual([['users', false]]);
  });

  test('Python files beside a manifest are given, too', async () => {
    const { page } = await own.open('/new/import');
    await drop(
      page,
      'manifest.yaml',
      Buffer.from(
        MANIFEST.replace(
          '{type: BearerAuthenticator, api_token: "{{ config[\'api_key\'] }}"}',
          '{type: CustomAuthenticator, class_name: source_x.components.Token}',
        ),
      ),
    );
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('0 exact').waitFor();
    await page.getByText('no file beside the manifest has this class').first().waitFor();
    await page
      .getByLabel('Choose Python files')
      .setInputFiles({ name: 'components.py', mimeType: 'text/x-python', buffer: Buffer.from(PYTHON) });
    await page.getByText('components.py', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('1 exact').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'import-python');
  });

  test('what cannot be read is said with its place, and nothing is kept', async () => {
    const { page } = await own.open('/new/import', { expects: [/400/] });
    await page.getByLabel('The file').fill('a: [1');
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('alert').getByText('is no YAML').waitFor();
    await expect.poll(async () => await page.getByRole('alert').textContent()).toContain('(manifest.yaml:');
    await page
      .getByLabel('The file')
      .fill(
        'import requests\nsource: RESTAPIConfig = {"client": {"base_url": "https://a.example/"}, "resources": ["users"]}',
      );
    await expect.poll(async () => await page.getByRole('alert').count()).toBe(0);
    await expect.poll(async () => await page.getByLabel('It is of').inputValue()).toBe('dlt');
  });
});
