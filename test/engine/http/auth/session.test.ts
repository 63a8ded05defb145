import { describe, expect, test } from 'vitest';
import { shareSession } from '../../../../src/engine/http/auth/session.ts';

/** A login that waits until it is told to go on, or is aborted. */
function slowLogin() {
  const started: ((value: object) => void)[] = [];
  const session = shareSession<object>(
    ({ signal }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        started.push(resolve);
      }),
    () => true,
  );
  return { session, started };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a shared session', () => {
  test('is begun again by those who wait when the one who began it is aborted', async () => {
    const { session, started } = slowLogin();
    const [first, second] = [new AbortController(), new AbortController()];
    const aborted = session.get({ signal: first.signal }).catch((error: unknown) => error);
    const waiting = session.get({ signal: second.signal });
    first.abort(new Error('stopped'));
    expect(await aborted).toEqual(new Error('stopped'));
    await tick();
    const value = { token: 'a' };
    started[1]?.(value);
    expect(await waiting).toBe(value);
    expect(started).toHaveLength(2);
  });

  test('lets one who waits be aborted without ending the login of the others', async () => {
    const { session, started } = slowLogin();
    const [first, second] = [new AbortController(), new AbortController()];
    const going = session.get({ signal: first.signal });
    const aborted = session.get({ signal: second.signal }).catch((error: unknown) => error);
    second.abort(new Error('stopped'));
    expect(await aborted).toEqual(new Error('stopped'));
    const value = {};
    started[0]?.(value);
    expect(await going).toBe(value);
  });

  test('that was dropped is opened anew; dropping an old one keeps the new one', async () => {
    let count = 0;
    const session = shareSession(
      async () => ({ count: ++count }),
      () => true,
    );
    const options = { signal: new AbortController().signal };
    const old = await session.get(options);
    session.drop(old);
    expect(await session.get(options)).toEqual({ count: 2 });
    session.drop(old);
    expect(await session.get(options)).toEqual({ count: 2 });
  });
});
