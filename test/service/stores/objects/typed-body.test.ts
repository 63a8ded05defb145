import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { typedBody } from '../../../../src/service/stores/objects/sdk-errors.ts';

test('a body that breaks before it is read ends no process, and its reader is told', async () => {
  const body = new PassThrough();
  const typed = typedBody(body);
  body.write('half of');
  body.destroy(new Error('aborted'));
  await turn();
  await turn();
  await expect(typed.toArray()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
});
