import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Secrets } from '../../../src/lib/secrets.ts';
import { ExchangeWriter, shownRequest, type ExchangeFacts } from '../../../src/engine/recording/exchange.ts';
import type { Headers } from '../../../src/engine/shared/message.ts';
import { times } from '../../support/sample.ts';

const FACTS: ExchangeFacts = {
  position: [{ job: 'a “job”', index: 0, page: 3 }],
  digest: 'bGFzdA_-',
  status: 200,
  began: 1,
  at: 2,
  ms: 1,
};

const values = fc.oneof(
  fc.constantFrom('application/json', 'hidden-1', 'a hidden-2 b', '"', 'tab\t', '\ud800'),
  fc.string(),
);
const headers = fc.dictionary(
  fc.constantFrom('date', 'etag', 'Set-Cookie', 'set-cookie', 'x-api-key', 'content-type', '7', 'vary'),
  values,
);

/** Returns the text of a writer without a memory. */
function anew(secrets: Secrets, url: string, asked: Headers, answered: Headers, wanted: readonly string[]) {
  return new ExchangeWriter(secrets).text({ method: 'GET', url, headers: asked }, answered, wanted, FACTS);
}

test('exchanges are written the same, whatever came before them', () => {
  const steps = fc.array(fc.tuple(headers, headers, fc.subarray(['etag', 'link']), fc.boolean()), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(steps, (exchanges) => {
      const secrets = new Secrets();
      const writer = new ExchangeWriter(secrets);
      let learned = 0;
      for (const [asked, answered, wanted, isLearned] of exchanges) {
        if (isLearned) secrets.add(`hidden-${++learned}`);
        const url = 'http://h/x?api_key=abc&q="1"';
        const request = { method: 'GET', url, headers: asked };
        const text = writer.text(request, answered, wanted, FACTS);
        const { headers: kept, ...json } = JSON.parse(text) as { headers: Headers };
        expect(text).toBe(anew(secrets, url, asked, answered, wanted));
        expect(text).toBe(
          JSON.stringify({
            position: FACTS.position,
            request: shownRequest(request, secrets),
            digest: FACTS.digest,
            status: FACTS.status,
            headers: kept,
            began: 1,
            at: 2,
            ms: 1,
          }),
        );
        const names = Object.keys(answered).filter((name) => name.toLowerCase() !== 'set-cookie');
        expect(Object.keys(kept)).toEqual(names);
        for (const name of names)
          if (learned > 0 && !wanted.includes(name)) expect(kept[name]).not.toContain('hidden-1');
        expect(json).not.toHaveProperty('url');
      }
    }),
    { numRuns: times(300) },
  );
});

test('a secret that is learned on the way is hidden in headers that were written before', () => {
  const secrets = new Secrets();
  const writer = new ExchangeWriter(secrets);
  const request = { method: 'GET', url: 'http://h/x', headers: { 'X-Session': 'abcdef' } };
  const text = (): string => writer.text(request, { 'x-session': 'abcdef' }, [], FACTS);
  expect(text()).toContain('abcdef');
  secrets.add('abcdef');
  expect(text()).not.toContain('abcdef');
});
