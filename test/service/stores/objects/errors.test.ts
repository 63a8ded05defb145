import { expect, test } from 'vitest';
import { ObjectError, toObjectError } from '../../../../src/service/stores/objects/errors.ts';

test('a full disk has its own code, and an unforeseen error tells the client nothing of the machine', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(toObjectError(full)).toMatchObject({ code: 'InsufficientStorage', status: 507 });
  const other = toObjectError(new Error('/var/lib/objects/x is broken'));
  expect(other).toMatchObject({ code: 'InternalError', status: 500 });
  expect(other.message).not.toContain('/var');
  const known = new ObjectError('NoSuchKey', 'gone');
  expect(toObjectError(known)).toBe(known);
});
