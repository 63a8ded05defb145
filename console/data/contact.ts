import { BASE } from '../route/router.ts';
import { createStore } from './store.ts';

/** True when the service answers. */
export const contact = createStore<'away' | 'there'>('there');

const AGAIN_MS = 2000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Notes the result of every attempt to reach the service; while it is offline, it is polled until it answers. */
export function noteContact(isThere: boolean): void {
  contact.set(isThere ? 'there' : 'away');
  if (isThere) {
    clearTimeout(timer);
    timer = undefined;
  } else timer ??= setTimeout(look, AGAIN_MS);
}

// A computer without a network is told so at once, not by the next request.
window.addEventListener('offline', () => noteContact(false));

function look(): void {
  timer = undefined;
  fetch(`${BASE}/health`, { cache: 'no-store' }).then(
    (response) => noteContact(response.ok),
    () => noteContact(false),
  );
}
