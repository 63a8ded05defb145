import { createStore } from '../data/store.ts';

export type Theme = 'dark' | 'light';
const KEY = 'gex-theme';
const dark = window.matchMedia('(prefers-color-scheme: dark)');

/** Store of the theme: chosen by the user, else that of the system. The page stores no other data. */
export const theme = createStore<Theme>(current());

theme.subscribe(show);
dark.addEventListener('change', () => theme.set(current()));
show();

export function toggleTheme(): void {
  const next = theme.get() === 'dark' ? 'light' : 'dark';
  remember(next === systemTheme() ? undefined : next);
  theme.set(next);
}

function show(): void {
  document.documentElement.dataset['theme'] = theme.get();
}

function current(): Theme {
  const kept = recall();
  return kept === 'dark' || kept === 'light' ? kept : systemTheme();
}

function systemTheme(): Theme {
  return dark.matches ? 'dark' : 'light';
}

// A browser may refuse to store anything.
function recall(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(value: Theme | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, value);
  } catch {
    // Then it is as the system has it the next time.
  }
}
