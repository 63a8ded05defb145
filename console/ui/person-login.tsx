import { REDIRECT_URI, type LoginSubject, type PersonLogin } from '../data/person-login.ts';
import { Button } from './button.tsx';
import { Banner, ErrorBanner } from './states.tsx';
import { CopyButton } from './values.tsx';
import './person-login.css';

export interface PersonLoginButtonProps {
  readonly login: PersonLogin;
  readonly subject: LoginSubject;
  readonly label: string;
  readonly isPrimary?: boolean;
  readonly isDisabled?: boolean;
}

/** Begins the login of a person at the provider of an API. */
export function PersonLoginButton({ login, subject, label, isPrimary, isDisabled }: PersonLoginButtonProps) {
  const { kind } = login.state;
  return (
    <Button
      icon="user"
      kind={isPrimary === true ? 'primary' : 'default'}
      isBusy={kind === 'starting' || kind === 'waiting'}
      isDisabled={isDisabled === true}
      onPress={() => login.start(subject)}
    >
      {label}
    </Button>
  );
}

/** Shows how far a login is, while the person is at the provider. */
export function PersonLoginProgress({ login }: { readonly login: PersonLogin }) {
  const { state } = login;
  if (state.kind === 'failed') return <ErrorBanner error={state.error} />;
  if (state.kind !== 'waiting') return null;
  return (
    <Banner
      action={
        <button type="button" class="button" onClick={login.cancel}>
          Cancel
        </button>
      }
    >
      {state.isExchanging ? (
        'The provider has sent you back: the login is being fetched…'
      ) : (
        <>
          Log in in the other tab, and come back here. If none has opened:{' '}
          <a href={state.started.address} target="_blank" rel="noopener noreferrer">
            open the login page
          </a>
          .
        </>
      )}
    </Banner>
  );
}

/** Shows the address that the provider has to know: it sends the browser back to no other. */
export function RedirectHint() {
  return (
    <p class="muted small redirect-hint">
      Register a client with the provider, with this redirect address: <code>{REDIRECT_URI}</code>
      <CopyButton text={REDIRECT_URI} label="Copy the redirect address" />
    </p>
  );
}
