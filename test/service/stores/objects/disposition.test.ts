import { expect, test } from 'vitest';
import { attachmentOf } from '../../../../src/service/stores/objects/disposition.ts';

test.each([
  ['a b.csv', 'attachment; filename="a b.csv";'],
  ['žluť.csv', `attachment; filename="_lu_.csv"; filename*=UTF-8''%C5%BElu%C5%A5.csv;`],
  ['q"u\\o\r\n.csv', `attachment; filename="q_u_o__.csv"; filename*=UTF-8''q%22u%5Co%0D%0A.csv;`],
])('%j', (name, header) => expect(attachmentOf(name)).toBe(header));

test('of a very long name the end is given', () => {
  const header = attachmentOf(`${'ž'.repeat(5000)}.csv`);
  expect(header.length).toBeLessThan(3000);
  expect(header).toMatch(/_\.csv"; filename\*=UTF-8''(?:%C5%BE)+\.csv;$/);
});
