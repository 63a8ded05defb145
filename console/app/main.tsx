import { render } from 'preact';
import { SignInError, sessionState, startSession } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in.tsx';
import '../ui/tokens.css';
import '../ui/base.css';
import './theme.ts';

let failed: unknown;

function App() {
  const state = useStore(sessionState);
  if (state === undefined) return null;
  if (state.kind === 'out') return <SignInPage failed={failed} />;
  return <Shell session={state.session} isEnded={state.kind === 'ended'} />;
}

await startSession().catch((error: unknown) => {
  if (!(error instanceof SignInError)) throw error;
  failed = error;
  sessionState.set({ kind: 'out' });
});
const root = document.getElementById('app');
if (root === null) throw new Error('The page has no place for the console.');
root.replaceChildren();
render(<App />, root);
