import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runFixtures } from '../../../src/authoring/testing/index.ts';
import { describeDoubt, type JobReport } from '../../../src/engine/completeness/index.ts';
import { played, type Answer } from './played.ts';

/** Outside examples and the description of real paginations are no part of this package; fixtures are in their own test. */
const EXAMPLES = process.env['CONFORMANCE_DIR'] ?? '';
const PAGINATIONS = process.env['PAGINATIONS_FILE'] ?? '';

function doubtsOf(name: string, jobs: readonly JobReport[]): string[] {
  return jobs.filter(({ verdict }) => verdict === 'doubtful').map((job) => `${name}: ${describeDoubt(job)}`);
}

describe.skipIf(EXAMPLES === '')('outside examples (only where CONFORMANCE_DIR names their folder)', () => {
  test(
    'are not doubtful, but for those whose only page says that there is more',
    { timeout: 120_000 },
    async () => {
      const { results } = await runFixtures(EXAMPLES);
      const told = results.flatMap(({ name, jobs }) => doubtsOf(name, jobs));
      // these ask once, of an API that has more: their tables are exact, and not all; and one answers with the page
      // before where its pages end, by which nobody can tell that they do
      expect(
        told.filter(
          (text) =>
            !/The last page \(1\) says that there is .* See `pagination\.method`|correct `pagination\.method`|^041\b.*Page 3 brings the answer of page 2 again/.test(
              text,
            ),
        ),
      ).toEqual([]);
    },
  );
});

describe.skipIf(PAGINATIONS === '')(
  'real paginations (only where PAGINATIONS_FILE names their description)',
  () => {
    const cases = PAGINATIONS === '' ? [] : casesOf(readFileSync(PAGINATIONS, 'utf8'));

    test.each(cases)('$name is not doubtful', async ({ name, configuration, answers }) => {
      expect(doubtsOf(name, await played(configuration, answers))).toEqual([]);
    });

    test('are all found', () => {
      expect(cases.length).toBeGreaterThanOrEqual(20);
    });
  },
);

interface Case {
  readonly name: string;
  readonly configuration: string;
  readonly answers: readonly Answer[];
}

/** Each case has a configuration in a block of JSON, and its exchanges in a block of text. */
function casesOf(text: string): Case[] {
  return text.split(/^## /m).flatMap((section): Case[] => {
    const configuration = /```json\n([\s\S]*?)```/.exec(section)?.[1];
    const exchanges = /```text\n([\s\S]*?)```/.exec(section)?.[1];
    if (configuration === undefined || exchanges === undefined) return [];
    const answers = exchanges
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map(answerOf);
    return [{ name: section.slice(0, section.indexOf('\n')), configuration, answers }];
  });
}

function answerOf(line: string): Answer {
  const text = line.trim();
  const header = /^([A-Z][\w-]*): (.*?) {2}(?=[[{])/.exec(text);
  if (header === null) return { headers: {}, body: text };
  return {
    headers: { [(header[1] ?? '').toLowerCase()]: header[2] ?? '' },
    body: text.slice(header[0].length),
  };
}
