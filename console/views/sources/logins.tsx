import type { ConfigurationLogin } from '../../data/client.ts';
import { usePersonLogin } from '../../data/person-login.ts';
import { invalidate, wordsOf } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { PersonLoginButton, PersonLoginProgress, RedirectHint } from '../../ui/person-login.tsx';
import { Badge, Banner, type Tone } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';
import { useLogins } from './use-logins.ts';

/** Shows the logins of a source that are kept between its runs; nothing for a source without one. */
export function Logins({ component, id }: { readonly component: string; readonly id: string }) {
  const query = useLogins(component, id);
  if (query.error !== null)
    return (
      <Banner>
        The state of the login cannot be told here: <Text>{wordsOf(query.error).message}</Text>
      </Banner>
    );
  const logins = query.data ?? [];
  if (logins.length === 0) return null;
  return (
    <section class="card source-logins" aria-labelledby="source-logins">
      <h2 id="source-logins">{logins.length === 1 ? 'State of the login' : 'State of the logins'}</h2>
      <ul>
        {logins.map((login) => (
          <LoginItem key={`${login.row ?? ''} ${login.at}`} component={component} id={id} login={login} />
        ))}
      </ul>
    </section>
  );
}

type LoginState = ConfigurationLogin['state'];

const STATES: Readonly<Record<LoginState, readonly [tone: Tone, text: string]>> = {
  none: ['warn', 'nobody has logged in'],
  unused: ['neutral', 'not used yet'],
  active: ['good', 'logged in'],
  endsSoon: ['warn', 'ends soon'],
  ended: ['bad', 'ended'],
};

function LoginItem({
  component,
  id,
  login,
}: {
  readonly component: string;
  readonly id: string;
  readonly login: ConfigurationLogin;
}) {
  const { state, row, account, isOfPerson } = login;
  const person = usePersonLogin(() => {
    toast('Logged in');
    void invalidate('sources', component, id);
  });
  const [tone, text] = STATES[state];
  return (
    <li class="stack">
      <div class="spread">
        <p class="row">
          <Badge tone={tone}>{text}</Badge>
          <span>
            {account !== undefined && (
              <>
                As <Text>{account}</Text>
                {'. '}
              </>
            )}
            <Facts login={login} />
            {row !== undefined && (
              <span class="muted">
                {' '}
                For the row <Text>{row}</Text>, and all with the same client.
              </span>
            )}
          </span>
        </p>
        {isOfPerson && mayUse(component) && (
          <PersonLoginButton
            login={person}
            subject={{ component, configuration: id, row }}
            label={state === 'none' ? 'Log in' : 'Log in again'}
            isPrimary={state === 'none' || state === 'ended'}
          />
        )}
      </div>
      <PersonLoginProgress login={person} />
      {isOfPerson && state === 'none' && mayUse(component) && <RedirectHint />}
    </li>
  );
}

/** Tells since when a login holds, until when, and what to do about one that does not. */
function Facts({ login }: { readonly login: ConfigurationLogin }) {
  const { state, isOfPerson, refused, renewed, endsAt, isRenewed } = login;
  const again = isOfPerson ? 'Log in again' : 'Set a new refresh token';
  if (state === 'none') return <>Runs fail until a person logs in.</>;
  if (state === 'unused') return <>The next run begins with the token of the configuration.</>;
  if (refused !== undefined)
    return (
      <>
        The provider refused to renew it (<RelativeTime value={refused} />
        ). {again}: the next run goes on where the last one stopped.
      </>
    );
  if (state === 'ended')
    return (
      <>
        It ended <RelativeTime value={endsAt} />, and nothing renews it. {again}.
      </>
    );
  return (
    <>
      Last renewed <RelativeTime value={renewed} />
      {endsAt !== undefined && (
        <>
          {'; ends '}
          <RelativeTime value={endsAt} />
        </>
      )}
      {isRenewed === false ? (
        <>
          : the provider gave no refresh token. Many give one for the scope <code>offline_access</code>.
        </>
      ) : (
        '. Runs renew it by themselves.'
      )}
    </>
  );
}
