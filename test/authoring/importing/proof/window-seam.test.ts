import { expect, test } from 'vitest';
import { leftoversIn } from '../../../../src/authoring/importing/proof/sent-values.ts';
import { seamOf } from '../../../../src/authoring/importing/proof/window-seam.ts';
import type { SampledExchange } from '../../../../src/authoring/importing/proof/sample-run.ts';

function asked(target: string, body?: string): SampledExchange {
  return {
    position: [],
    request: {
      method: 'GET',
      url: `https://api.example.com${target}`,
      headers: {},
      ...(body === undefined ? {} : { body }),
    },
    response: { status: 200, headers: {}, url: '', body: new Uint8Array() },
  };
}

test.each([
  ['/x?from=2026-01-01&to=2026-01-10', '/x?from=2026-01-11&to=2026-01-20', 'joined'],
  ['/x?from=2026-01-01&to=2026-01-10', '/x?from=2026-01-10&to=2026-01-20', 'joined'],
  ['/x?from=2026-01-01&to=2026-01-10', '/x?from=2026-01-13&to=2026-01-20', 'gap'],
  ['/x?from=2026-01-01&to=2026-01-10', '/x?from=2026-01-08&to=2026-01-20', 'overlap'],
  ['/x?from=2026-01-11&to=2026-01-20', '/x?from=2026-01-01&to=2026-01-10', 'joined'],
  ['/x?since=1767225600&until=1767311999', '/x?since=1767312000&until=1767398399', 'joined'],
  [
    '/x?a=2026-01-01T00:00:00Z&b=2026-01-01T23:59:59Z',
    '/x?a=2026-01-02T01:00:00Z&b=2026-01-02T23:59:59Z',
    'gap',
  ],
  ['/x/2026-01-01/2026-01-10', '/x/2026-01-11/2026-01-20', 'joined'],
  ['/x?since=2026-01-01', '/x?since=2026-01-11', 'unknown'],
])('windows %s and %s: %s', (one, other, kind) => {
  expect(seamOf(asked(one), asked(other)).kind).toBe(kind);
});

const body = (from: string, to: string): string => JSON.stringify({ range: { from, to } });

test('windows in a body are read, too', () => {
  const seam = seamOf(
    asked('/x', body('2026-01-01', '2026-01-10')),
    asked('/x', body('2026-01-15', '2026-01-24')),
  );
  expect(seam).toEqual({
    kind: 'gap',
    text: 'one window ends by to=2026-01-10, the next begins by from=2026-01-15',
  });
});

test.each([
  ['/users/%7Bid%7D', undefined, ['the path has “{id}” in it']],
  ['/users?q=%7B%7B%20config.x%20%7D%7D', undefined, ['the parameter “q” has “{{ config.x }}” in it']],
  ['/users?q=undefined', undefined, ['the parameter “q” has “undefined” in it']],
  ['/users?q=%7B%22a%22%3A%7B%22b%22%3A1%7D%7D', undefined, []],
  ['/users?q=%7Bother%7D', undefined, []],
  ['/users', '{"a":{"b":"{{ x }}"}}', ['the body has “{{ x }}” in it']],
])('what is left in %s', (target, body, left) => {
  expect(leftoversIn(asked(target, body), new Set(['id']))).toEqual(left);
});
