import { describe, expect, test } from 'vitest';
import { isPassing } from '../../src/service/domain/jobs/failure.ts';
import { ObjectError } from '../../src/service/stores/objects/errors.ts';

const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

describe('what passes by itself', () => {
  test.for([
    ['an object store that is away', new ObjectError('ServiceUnavailable', 'away'), true],
    ['an object that is not there', new ObjectError('NoSuchKey', 'none'), false],
    ['a full disk', full, true],
    ['what was caused by it', new Error('a slice could not be written', { cause: full }), true],
    ['what was caused by that', new Error('a', { cause: new Error('b', { cause: full }) }), true],
    ['anything else', new Error('a', { cause: new Error('b') }), false],
    ['no error', 'full', false],
  ] as const)('%s: %s', ([, error, passes]) => {
    expect(isPassing(error)).toBe(passes);
  });
});
