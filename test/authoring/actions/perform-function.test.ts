import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { act, failed, json } from './support.ts';

const now = Date.parse('2026-11-21T12:00:00Z') / 1000;
const env = { ...systemEnv, now: () => now * 1000 + 500 };

function perform(call: unknown, parameters: object = {}, state: object = {}) {
  return act('perform_function', { ...parameters, __FUNCTION_CFG: call }, { env, state: json(state) });
}

describe('perform_function', () => {
  test('gives the result of a function', async () => {
    expect(await perform({ function: 'md5', args: ['NotSoSecret'] })).toEqual({
      result: '1228d3ff5089f27721f1e0403ad86e73',
    });
    expect(await perform({ function: 'urlencode', args: ['a b'] })).toEqual({ result: 'a+b' });
  });

  test('refers to the attributes of the configuration', async () => {
    const call = { function: 'concat', args: [{ attr: 'server.host' }, '/', { attr: 'list.0' }] };
    expect(await perform(call, { config: { server: { host: 'h' }, list: ['x'] } })).toEqual({
      result: 'h/x',
    });
  });

  test('knows the time of this run and of the last one', async () => {
    const call = { a: { time: 'previousStart' }, b: { time: 'currentStart' } };
    expect(await perform(call)).toEqual({ result: { a: 0, b: now } });
    expect(await perform(call, {}, { time: { previousStart: 1_700_000_000 } })).toEqual({
      result: { a: 1_700_000_000, b: now },
    });
    expect(await perform({ function: 'date', args: ['Y-m-d'] })).toEqual({ result: '2026-11-21' });
  });

  test('takes what a run would know from the input', async () => {
    const context = { placeholder: { value: '7' }, response: { data: { token: 'abc' } } };
    const call = { function: 'concat', args: [{ placeholder: 'value' }, { response: 'data.token' }] };
    expect(await perform(call, { __FUNCTION_CTX: context })).toEqual({ result: '7abc' });
  });

  test('does not show secrets', async () => {
    const config = { '#token': 'very-secret', __hidden: 'also-secret', shown: 'open' };
    const call = {
      a: { function: 'concat', args: ['Bearer ', { attr: '#token' }] },
      b: { function: 'base64_encode', args: [{ attr: '__hidden' }] },
      c: { attr: 'shown' },
    };
    expect(await perform(call, { config })).toEqual({ result: { a: 'Bearer ***', b: '***', c: 'open' } });
  });

  test.each<[call: unknown, message: RegExp, path: string]>([
    [undefined, /is missing/, 'parameters.__FUNCTION_CFG'],
    ['md5', /must be an object/, 'parameters.__FUNCTION_CFG'],
    [{ function: 'md6', args: ['a'] }, /There is no function “md6”/, 'parameters.__FUNCTION_CFG.function'],
    [
      { function: 'concat', args: [{ attr: 'nope' }] },
      /no value “nope” in “attr”/,
      'parameters.__FUNCTION_CFG.args[0]',
    ],
  ])('says what is wrong with %j', async (call, message, path) => {
    const error = await failed('perform_function', { __FUNCTION_CFG: call, config: { id: 1 } });
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ audience: 'user', where: { path } });
  });

  test('wants contexts with values', async () => {
    for (const context of [7, { placeholder: 'value' }]) {
      const error = await failed('perform_function', { __FUNCTION_CFG: { a: 1 }, __FUNCTION_CTX: context });
      expect(error.where.path).toBe('parameters.__FUNCTION_CTX');
    }
  });
});
