import { useRef, useState } from 'preact/hooks';
import { contact } from '../data/contact.ts';
import { mayChangeAny, mayUse, signOut, type Session } from '../data/session.ts';
import { NEW_SOURCES } from '../data/sources.ts';
import { useAction } from '../data/query.ts';
import { useStore } from '../data/store.ts';
import { Link } from '../route/link.tsx';
import { at, BASE, navigate, partsOf, PlaceContext, useFollowedPlace } from '../route/router.ts';
import { ButtonLink, IconButton } from '../ui/button.tsx';
import { Dialog, FormDialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Banner } from '../ui/states.tsx';
import { Toasts } from '../ui/toast.tsx';
import { By } from '../ui/values.tsx';
import { BranchSwitcher } from './branches.tsx';
import { LazyPalette } from './lazy-palette.tsx';
import { Shortcuts, useShortcuts } from './shortcuts.tsx';
import { SignInForm } from './sign-in.tsx';
import { theme, toggleTheme } from './theme.ts';
import { ViewOf } from './view.tsx';
import { VIEWS } from './views.ts';
import './shell.css';

/** Frames every view with the navigation and the state of the service. */
export function Shell({ session, isEnded }: { readonly session: Session; readonly isEnded: boolean }) {
  const place = useFollowedPlace();
  const [first, ...parts] = partsOf(place.path);
  const view = VIEWS.find((each) => each.place === (first ?? ''));
  const isUnavailable = useStore(contact) === 'away';
  const [isHelpOpen, setHelpOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  useShortcuts({ onHelp: () => setHelpOpen(true), onPalette: () => setPaletteOpen(true) });
  const navigation = (label: string) => (
    <nav aria-label={label}>
      <ul class="nav">
        {VIEWS.filter(({ isInNavigation }) => isInNavigation).map(({ name, place: to, title, icon }) => (
          <li key={name}>
            <Link to={`/${to}`} isCurrent={to === first}>
              <Icon name={icon} />
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
  return (
    <PlaceContext.Provider value={place}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="shell">
        <aside class="side" aria-label="Console">
          <Brand name={session.project.name} />
          {mayUse(NEW_SOURCES) && (
            <ButtonLink to="/new" kind="primary" icon="plus">
              New source
            </ButtonLink>
          )}
          <BranchSwitcher />
          {navigation('Views')}
          <div class="side-foot">
            <span title="The token of this session">{session.token.description}</span>
            <span>
              <a href={`${BASE}/docs`}>API reference</a> · {session.version}
            </span>
            <div class="row">
              <ThemeButton />
              <IconButton icon="search" label="Go to (Ctrl K)" onPress={() => setPaletteOpen(true)} />
              <IconButton icon="keyboard" label="Keyboard shortcuts" onPress={() => setHelpOpen(true)} />
              <PersonMenu session={session} />
            </div>
          </div>
        </aside>
        <header class="top">
          <Brand name={session.project.name} />
          <div>
            <IconButton icon="search" label="Go to" onPress={() => setPaletteOpen(true)} />
            {mayUse(NEW_SOURCES) && (
              <IconButton icon="plus" label="New source" onPress={() => navigate('/new')} />
            )}
            <ThemeButton />
            <PersonMenu session={session} />
          </div>
        </header>
        <main ref={main} id="main" class="main" tabIndex={-1}>
          <div class="main-inner">
            {isUnavailable && <Banner kind="warn">The service does not answer. Trying again …</Banner>}
            {!mayChangeAny() && (
              <p class="shell-reads" role="note">
                Your token may only read: what would change something is not offered.
              </p>
            )}
            <ViewOf view={view} parts={parts} />
          </div>
        </main>
        <div class="bottom">{navigation('Views, at the bottom')}</div>
      </div>
      <Toasts />
      {isPaletteOpen && <LazyPalette onClose={() => setPaletteOpen(false)} />}
      {isHelpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
      {isEnded && (
        <Dialog title="Your session has ended">
          <p>Sign in again to go on. What you typed is still there.</p>
          <SignInForm />
        </Dialog>
      )}
    </PlaceContext.Provider>
  );
}

/** Shows who is signed in, and asks before the session is ended: a link is good once. */
function PersonMenu({ session: { token } }: { readonly session: Session }) {
  const [isLeaving, setLeaving] = useState(false);
  const action = useAction(signOut);
  return (
    <>
      <Menu
        icon="user"
        label="Your session"
        about={
          <>
            Signed in with <By token={token} />
          </>
        }
        items={[
          { icon: 'token', text: 'Show the token', act: () => navigate(at`/tokens/${token.id}`) },
          { icon: 'close', text: 'Sign out', act: () => setLeaving(true) },
        ]}
      />
      {isLeaving && (
        <FormDialog
          title="Sign out?"
          action="Sign out"
          isBusy={action.isRunning}
          error={action.error}
          onSubmit={() => void action.run(undefined)}
          onClose={() => setLeaving(false)}
        >
          <p>
            To come back you need a token to paste, or a new link: <code>gex ui</code> on the machine of the
            service opens one. The link that you came by is used up.
          </p>
        </FormDialog>
      )}
    </>
  );
}

function Brand({ name }: { readonly name: string }) {
  return (
    <Link to="/" class="brand" title={name}>
      <span class="brand-mark">
        <Icon name="source" size={16} />
      </span>
      <span>
        <bdi>{name}</bdi>
      </span>
    </Link>
  );
}

function ThemeButton() {
  const isDark = useStore(theme) === 'dark';
  return (
    <IconButton icon={isDark ? 'sun' : 'moon'} label={isDark ? 'Light' : 'Dark'} onPress={toggleTheme} />
  );
}
