import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runFixtures, type FixtureSettings } from '../../src/authoring/testing/index.ts';

const FOLDER = process.env['CONFORMANCE_DIR'] ?? '';

/** Examples that hold a moment or a random value. */
const SETTINGS: Readonly<Record<string, FixtureSettings>> = {
  '091-function-user-data': { clock: ['2017-04-20T15:53:50Z', '2017-04-20T15:53:51Z'] },
  '102-oauth1': { clock: '2017-04-22T23:40:52Z', nonce: '72469d96572dabb4d0ea02b057ea4f246d722b72' },
  '104-oauth2-hmac': { clock: '2017-04-23T14:36:33Z', nonce: '605cce2a2f687253' },
  '109-incremental-load-from-to': { clock: '2017-09-07T12:00:00Z' },
  '110-incremental-relative': { clock: '2017-09-07T12:00:00Z' },
};

describe.skipIf(FOLDER === '')(
  'outside examples (only where CONFORMANCE_DIR names their folder: they are not part of this package)',
  () => {
    test(
      'each asks for what is recorded and writes the tables that are expected',
      { timeout: 120_000 },
      async () => {
        const { results } = await runFixtures(FOLDER, { settings: (name) => SETTINGS[name] ?? {} });
        const failed = results
          .filter(({ passed }) => !passed)
          .map(({ name, problems }) => `${name}\n${problems.join('\n')}`);
        expect(failed.join('\n\n')).toBe('');
        expect(results).toHaveLength(readdirSync(FOLDER).length);
      },
    );
  },
);
