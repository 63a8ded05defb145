import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Env } from '../../../../src/lib/env.ts';
import { describeError, FunctionError } from '../../../../src/lib/errors.ts';
import { createEvaluator, FUNCTION_NAMES } from '../../../../src/engine/jobs/functions/index.ts';
import {
  objectOf,
  parseExact,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../../../src/lib/json/index.ts';
import { casesOf } from './vectors.ts';

const env: Env = {
  now: () => 1_490_000_000_999,
  randomBytes: (count) => new Uint8Array(count),
  sleep: () => Promise.resolve(),
};
const contexts = {
  attr: { 'server.port': 8080, '#token': 'secret', empty: '', no: false, zero: 0, nothing: null, 7: 'seven' },
  time: { currentStart: 1_490_000_000, previousStart: 1_489_000_000 },
};

function evaluate(value: Json, options: { placeholders?: boolean } = {}): Json {
  return createEvaluator(env, options)(value, contexts, 'parameters.config.jobs[0].params.p');
}

function call(name: string, ...args: Json[]): Json {
  return evaluate({ function: name, args });
}

function failure(value: Json): FunctionError {
  try {
    evaluate(value);
  } catch (error) {
    if (error instanceof FunctionError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('what is evaluated', () => {
  test('scalars and lists at the top are left alone', () => {
    const list = [{ attr: 'server.port' }, { function: 'time' }];
    expect(evaluate(list)).toBe(list);
    expect([evaluate('a'), evaluate(1), evaluate(null), evaluate(false)]).toEqual(['a', 1, null, false]);
  });

  test('an object keeps its form, and all in it is evaluated, through lists too', () => {
    const value = {
      filter: {
        port: { attr: 'server.port' },
        list: [1, { time: 'currentStart' }, [{ function: 'time' }], {}],
      },
      plain: 'text',
    };
    expect(evaluate(value)).toEqual({
      filter: { port: 8080, list: [1, 1_490_000_000, [1_490_000_000], {}] },
      plain: 'text',
    });
  });

  test('the order of keys is kept', () => {
    const value = parseExact('{"b":{"attr":"server.port"},"10":"x","2":{"attr":"zero"},"__proto__":"y"}');
    expect(toJsonText(evaluate(value))).toBe('{"b":8080,"10":"x","2":0,"__proto__":"y"}');
  });

  test('the items of a list in a context are that list', () => {
    const attr = { 'ids.0': 'a', 'ids.1': 'b', 'maps.0.id': 1, 'maps.1.id': 2, 'ids2.0': 'c' };
    const read = (value: Json): Json => createEvaluator(env)(value, { attr }, 'params.p');
    expect(read({ function: 'implode', args: [',', { attr: 'ids' }] })).toBe('a,b');
    expect(read({ attr: 'maps' })).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test('a call may have calls as arguments, in a list or a map', () => {
    const inner = { function: 'date', args: ['Y-m-d', { time: 'previousStart' }] };
    expect(evaluate({ function: 'concat', args: ['from ', inner] })).toBe('from 2017-03-08');
    expect(evaluate({ function: 'concat', args: { a: 'from ', b: inner } })).toBe('from 2017-03-08');
    expect(evaluate({ function: 'implode', args: [',', [{ attr: 'zero' }, { attr: 'no' }, 'x']] })).toBe(
      '0,,x',
    );
  });
});

describe('references', () => {
  test('false, zero and empty text are values', () => {
    expect(['no', 'zero', 'empty'].map((key) => evaluate({ attr: key }))).toEqual([false, 0, '']);
  });

  test('a number may be the name', () => {
    expect(evaluate({ attr: 7 })).toBe('seven');
  });

  test('a key that is no context, or not the only one, makes no reference', () => {
    expect(evaluate({ other: 'server.port' })).toEqual({ other: 'server.port' });
    expect(evaluate({ attr: 'server.port', time: 'x' })).toEqual({ attr: 'server.port', time: 'x' });
    expect(evaluate({ constructor: 'x' })).toEqual({ constructor: 'x' });
  });

  test('a missing value is named with its context, its place and what is near', () => {
    const error = failure({ since: { function: 'date', args: ['Y', { attr: 'server.prot' }] } });
    expect(error.message).toBe('There is no value “server.prot” in “attr”');
    expect(error.where.path).toBe('parameters.config.jobs[0].params.p.since.args[1]');
    expect(error.hint).toBe('Did you mean “server.port”?');
    expect(error.audience).toBe('user');
  });

  test('null is missing', () => {
    expect(failure({ attr: 'nothing' }).message).toBe('There is no value “nothing” in “attr”');
  });

  test('what there is gets listed, by name and never by value', () => {
    expect(failure({ time: 'whatever' }).hint).toBe('“time” has currentStart, previousStart.');
    expect(describeError(failure({ attr: 'token' }))).not.toContain('secret');
  });

  test('a reference needs a name', () => {
    expect(failure({ attr: ['server.port'] }).message).toBe('A reference to “attr” needs a name in text');
  });
});

describe('functions', () => {
  test.each(casesOf('hash').map((entry) => entry.map((item) => (item === null ? null : toText(item)))))(
    '%s digests as recorded',
    (algorithm, data, key, digest, keyed) => {
      expect(call('hash', algorithm ?? '', data ?? '')).toBe(digest);
      if (keyed === null)
        expect(() => call('hash_hmac', algorithm ?? '', data ?? '', key ?? '')).toThrow('checksum');
      else expect(call('hash_hmac', algorithm ?? '', data ?? '', key ?? '')).toBe(keyed);
    },
  );

  test.each([
    // published check values: RFC 1950, RFC 9260 and RFC 9923 name the algorithms
    ['adler32', 'Wikipedia', '11e60398'],
    ['crc32b', '123456789', 'cbf43926'],
    ['crc32', '123456789', '181989fc'],
    ['crc32c', '123456789', 'e3069283'],
    ['fnv132', 'a', '050c5d7e'],
    ['fnv1a32', 'a', 'e40c292c'],
    ['fnv164', 'a', 'af63bd4c8601b7be'],
    ['fnv1a64', 'a', 'af63dc4c8601ec8c'],
    ['joaat', 'a', 'ca2e9442'],
    ['SHA512/256', 'abc', '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23'],
    ['sha3-256', 'abc', '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'],
    ['ripemd160', 'abc', '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc'],
  ])('%s of %s is %s', (algorithm, text, wanted) => {
    expect(call('hash', algorithm, text)).toBe(wanted);
  });

  test('md5 and sha1 take any scalar as text in UTF-8', () => {
    expect(call('md5', 'čau')).toBe(createHash('md5').update('čau').digest('hex'));
    expect(call('sha1', 12)).toBe('7b52009b64fd0a2a49e6d8a939753077792b0554');
    expect(call('md5', true)).toBe('c4ca4238a0b923820dcc509a6f75849b');
  });

  test('raw digests are joined and encoded as bytes', () => {
    const raw = { function: 'hash_hmac', args: ['sha256', 'abc', 'key', true] };
    const hex = call('hash_hmac', 'sha256', 'abc', 'key');
    const bytes = Buffer.from(toText(hex), 'hex');
    expect(call('base64_encode', raw)).toBe(bytes.toString('base64'));
    const joined = Buffer.concat([Buffer.from('a'), bytes]).toString('base64');
    expect(call('base64_encode', { function: 'concat', args: ['a', raw] })).toBe(joined);
    const error = failure({ sign: raw });
    expect([error.message, error.where.path]).toEqual([
      'A function gives raw bytes here, but text is needed',
      'parameters.config.jobs[0].params.p.sign',
    ]);
  });

  test('time, date and strtotime use the clock of the run', () => {
    expect(call('time')).toBe(1_490_000_000);
    expect(call('date', 'c')).toBe('2017-03-20T08:53:20+00:00');
    expect(call('date', 'Y-m-d', '0')).toBe('1970-01-01');
    expect(call('date', 'Y', 86_400.7)).toBe('1970');
    expect(call('strtotime', '-7 days')).toBe(1_489_395_200);
    expect(call('strtotime', '-1 day', 86_400)).toBe(0);
    expect(call('strtotime', 'gibberish')).toBe(false);
    expect(call('date', 'Y-m-d', { function: 'strtotime', args: ['gibberish'] })).toBe('1970-01-01');
  });

  test('concat joins all as text', () => {
    expect(call('concat', 'a', 1, true, false, null, 1.5)).toBe('a111.5');
    expect(call('concat')).toBe('');
  });

  test('ifempty takes the second where the first is empty', () => {
    const empty: Json[] = [null, false, 0, '', '0', [], objectOf([])];
    expect(empty.map((value) => call('ifempty', value, 'b'))).toEqual(empty.map(() => 'b'));
    expect(['a', 1, '0.0', ' ', true].map((value) => call('ifempty', value, 'b'))).toEqual([
      'a',
      1,
      '0.0',
      ' ',
      true,
    ]);
  });

  test('implode joins a list, wherever it stands', () => {
    expect(call('implode', '-', [1, 'a', null])).toBe('1-a-');
    expect(call('implode', ['a', 'b'])).toBe('ab');
    expect(call('implode', ['a', 'b'], '-')).toBe('a-b');
  });

  test('base64_encode encodes UTF-8', () => {
    expect(call('base64_encode', 'user:žluť')).toBe('dXNlcjrFvmx1xaU=');
  });

  test('urlencode is for placeholders', () => {
    for (const [text, encoded] of casesOf('urlencode')) {
      expect(evaluate({ function: 'urlencode', args: [text ?? ''] }, { placeholders: true })).toBe(encoded);
    }
    expect(failure({ function: 'urlencode', args: ['a'] }).message).toBe(
      'The function “urlencode” works in placeholders of child jobs only',
    );
  });

  test('each function is described in one line', () => {
    expect(Object.keys(FUNCTION_NAMES)).toEqual(
      expect.arrayContaining([
        'md5',
        'sha1',
        'time',
        'date',
        'strtotime',
        'base64_encode',
        'hash_hmac',
        'hash',
        'sprintf',
        'concat',
        'ifempty',
        'implode',
        'urlencode',
      ]),
    );
    for (const [name, line] of Object.entries(FUNCTION_NAMES))
      expect(line).toMatch(new RegExp(`^\`${name}\\(.*\\.$`));
  });
});

describe('failures say what is wrong, where, and the way out', () => {
  test.each<[AnyObject, string, string, string]>([
    [{ function: 'mdd5', args: ['a'] }, 'There is no function “mdd5”', '.function', 'Did you mean “md5”?'],
    [{ function: 'toString' }, 'There is no function “toString”', '.function', 'Known functions: md5, sha1,'],
    [{ function: 5 }, 'The name of a function must be a text', '.function', ''],
    [
      { function: 'ifempty', args: ['a'] },
      'The function “ifempty” takes 2 arguments, but 1 is given',
      '',
      'It is called as ifempty(value, fallback).',
    ],
    [
      { function: 'md5', arguments: ['a'] },
      'The function “md5” takes 1 to 2 arguments, but 0 are given',
      '',
      'Arguments are given as “args”, not as “arguments”.',
    ],
    [{ function: 'time', args: [1] }, 'The function “time” takes no arguments, but 1 is given', '', 'time()'],
    [{ function: 'md5', args: 'a' }, '“args” must be a list', '.args', '"args": ["…"]'],
    [
      { function: 'md5', args: [['a']] },
      'The function “md5” failed: an argument is a list, but text is needed',
      '',
      'implode',
    ],
    [
      { function: 'sprintf', args: ['%s %s', 'a'] },
      'The function “sprintf” failed: the format asks for 2 values, but 1 are given',
      '',
      '%%',
    ],
    [
      { function: 'date', args: ['Y', 'yesterday'] },
      'The function “date” failed: the time is not a number of seconds',
      '',
      'Give seconds since 1970',
    ],
    [
      { function: 'implode', args: [',', 'a'] },
      'The function “implode” failed: neither argument is a list',
      '',
      'implode(',
    ],
  ])('%j', (value, message, path, hint) => {
    const error = failure(value);
    expect(error.message).toBe(message);
    expect(error.where.path).toBe(`parameters.config.jobs[0].params.p${path}`);
    expect(error.hint ?? '').toContain(hint);
  });

  test('a key in the place of the algorithm is not shown', () => {
    const error = failure({ function: 'hash_hmac', args: [{ attr: '#token' }, 'data', 'sha256'] });
    expect(error.message).toBe(
      'The function “hash_hmac” failed: the first argument is no known hash algorithm',
    );
    expect(describeError(error)).not.toContain('secret');
    expect(failure({ function: 'hash', args: ['sha-265', 'a'] }).hint).toBe('Did you mean “sha256”?');
  });
});
