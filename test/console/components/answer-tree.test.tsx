import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { parseExact } from '../../../src/lib/json/parse.ts';
import { AnswerTree } from '../../../console/views/new-source/answer-tree.tsx';

test('a list of which the first items are here says how many it has', () => {
  const ids = Array.from({ length: 20 }, (_, id) => ({ id }));
  render(
    <AnswerTree
      answer={parseExact(JSON.stringify({ data: ids, tags: ['a', 'b'] }))}
      lengths={{ data: 50 }}
      rows="data"
      onRows={() => undefined}
      marks={new Map()}
      onMark={() => undefined}
    />,
  );
  expect(screen.getByText('50 items, the first 20 shown')).toBeTruthy();
  expect(screen.getByText('2 items')).toBeTruthy();
});
