import { describe, expect, test } from 'vitest';
import { ACTION_NAMES, actionError, runAction } from '../../../src/authoring/actions/actions.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { ActionError, exitCodeOf } from '../../../src/lib/errors.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { failed, json, startApi } from './support.ts';

describe('a sync action', () => {
  test('is one of four', () => {
    expect(ACTION_NAMES).toEqual(['load_from_curl', 'infer_mapping', 'perform_function', 'test_request']);
  });

  test('that is unknown is answered with the nearest one and the list', async () => {
    const error = await failed('test_requst', {});
    expect(error).toMatchObject({
      code: 'action.unknown',
      message: 'There is no action “test_requst”.',
      hint: 'Did you mean “test_request”? The actions are run, load_from_curl, infer_mapping, perform_function, test_request.',
    });
    expect(exitCodeOf(error)).toBe(1);
    expect((await failed('constructor', {})).hint).toMatch(/^The actions are/);
  });

  test('ends when its time is up', async () => {
    const api = await startApi(() => undefined);
    const parameters = {
      api: { baseUrl: api.url },
      config: { jobs: [{ endpoint: 'slow' }] },
      __SELECTED_JOB: '0',
    };
    const error = await failed('test_request', parameters, { timeoutMs: 100 });
    expect(error).toMatchObject({
      code: 'action.late',
      audience: 'user',
      message: 'The action “test_request” was not done within 0.1 seconds.',
    });
  });

  test('ends when it is told to', async () => {
    const api = await startApi(() => undefined);
    const stop = new AbortController();
    const running = runAction('test_request', {
      configuration: json({
        parameters: {
          api: { baseUrl: api.url },
          config: { jobs: [{ endpoint: 'slow' }] },
          __SELECTED_JOB: '0',
        },
      }),
      env: systemEnv,
      log: silentLog,
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(running).rejects.toThrow('enough');
  });

  test('can have its answers from elsewhere than the network', async () => {
    const body = Buffer.from('[{"id":1}]');
    const result = await runAction('infer_mapping', {
      configuration: json({
        parameters: {
          api: { baseUrl: 'https://api.invalid/' },
          config: { jobs: [{ endpoint: 'x' }] },
          __SELECTED_JOB: '0',
        },
      }),
      env: systemEnv,
      log: silentLog,
      signal: new AbortController().signal,
      bottom: async (request) => ({ status: 200, headers: {}, url: request.url, body }),
    });
    expect(result).toEqual({ id: 'id' });
  });
});

describe('an error of an action', () => {
  test('is printed with what to do', () => {
    const error = new ActionError('action.invalid', 'It is wrong.', {
      where: { path: 'parameters.x' },
      hint: 'Do it well.',
    });
    expect(actionError(error)).toEqual({
      status: 'error',
      message: 'It is wrong. (parameters.x)\nDo it well.',
    });
  });

  test('of the program is called so', () => {
    expect(actionError(new Error('x is undefined'))).toEqual({
      status: 'error',
      message: 'A mistake of this program: x is undefined',
    });
    expect(exitCodeOf(new Error('x'))).toBe(2);
  });
});
