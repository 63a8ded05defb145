import { useId, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Badge, Banner } from '../../ui/states.tsx';
import type { PersonLogin } from '../../data/person-login.ts';
import { PersonLoginButton, PersonLoginProgress, RedirectHint } from '../../ui/person-login.tsx';
import { documentOf, LABELS, missingIn, NO_LOGIN, type Login } from './login.ts';

/** More than a service takes in one request. */
const MAX_FILE_BYTES = 12_000_000;

const KINDS = [
  { value: 'none', text: 'No login' },
  { value: 'bearer', text: 'Token (bearer)' },
  { value: 'basic', text: 'User and password' },
  { value: 'header', text: 'Key in a header' },
  { value: 'query', text: 'Key in the address' },
  { value: 'client', text: 'Client and secret (OAuth client credentials)' },
  { value: 'person', text: 'A person, in the browser (OAuth)' },
] as const satisfies readonly { value: Login['kind']; text: string }[];

export interface SourceFormProps {
  readonly source: string;
  readonly onSource: (source: string) => void;
  readonly login: Login;
  readonly onLogin: (login: Login) => void;
  readonly isBusy: boolean;
  /** Why the API did not let us in: the login is what to look at. */
  readonly loginProblem?: string | undefined;
  /** Logs a person in, for that kind of login. */
  readonly person: PersonLogin;
  readonly isLoggedIn: boolean;
  readonly onLook: () => void;
}

/** Edits the address or document of an API, and its login. */
export function SourceForm(props: SourceFormProps) {
  const { source, onSource, login, onLogin, isBusy, loginProblem, person, isLoggedIn, onLook } = props;
  const id = useId();
  const [file, setFile] = useState<string | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [isOver, setOver] = useState(false);
  const incomplete = missingIn(login);
  const missing = incomplete ?? (login.kind === 'person' && !isLoggedIn ? 'Log in first.' : undefined);

  async function take(given: File | undefined): Promise<void> {
    if (given === undefined) return;
    setProblem(undefined);
    if (given.size > MAX_FILE_BYTES) {
      setProblem(`${given.name} is larger than 12 MB. Leave out pictures and scripts when you record it.`);
      return;
    }
    onSource(await given.text());
    setFile(given.name);
  }

  return (
    <form
      class="card new-card stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (source.trim() !== '' && missing === undefined && !isBusy) onLook();
      }}
    >
      <div class="field">
        <label class="field-label" for={id}>
          An address, a curl command, or a document
        </label>
        <div
          class={isOver ? 'new-drop new-drop-over' : 'new-drop'}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            void take(event.dataTransfer?.files[0]);
          }}
        >
          <textarea
            id={id}
            class="input mono"
            rows={5}
            value={source}
            placeholder={'https://api.example.com/v1/users'}
            spellcheck={false}
            autocomplete="off"
            autoFocus
            aria-describedby={`${id}-hint`}
            onInput={(event) => {
              setFile(undefined);
              onSource(event.currentTarget.value);
            }}
          />
        </div>
        <span class="field-hint" id={`${id}-hint`}>
          Paste it here, or drop a file: OpenAPI, a Postman collection, or a HAR file of the browser’s network
          tab. A curl command brings its own login.
        </span>
        {problem !== undefined && (
          <span class="field-problem" role="alert">
            {problem}
          </span>
        )}
      </div>
      <div class="spread">
        <label class="button new-file">
          <Icon name="file" size={16} />
          Choose a file
          <input
            class="visually-hidden"
            type="file"
            onChange={(event) => {
              void take(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        {file !== undefined && <span class="muted small new-grow">{file}</span>}
      </div>
      <div class="new-login" data-login>
        <Select
          label="Login"
          value={login.kind}
          options={KINDS}
          onChange={(kind) => onLogin({ ...NO_LOGIN, kind })}
          {...(loginProblem === undefined ? {} : { problem: loginProblem })}
        />
        {login.kind !== 'none' && login.kind !== 'bearer' && (
          <Input
            label={LABELS[login.kind].name}
            value={login.name}
            onInput={(name) => onLogin({ ...login, name })}
            {...(login.kind === 'header' ? { placeholder: 'X-Api-Key' } : {})}
          />
        )}
        {login.kind !== 'none' && (
          <Input
            label={login.kind === 'bearer' ? 'Token' : LABELS[login.kind].secret}
            type="password"
            value={login.secret}
            onInput={(secret) => onLogin({ ...login, secret })}
          />
        )}
        {login.kind === 'person' && (
          <Input
            label="Address of the login page"
            value={login.authorizationUrl}
            onInput={(authorizationUrl) => onLogin({ ...login, authorizationUrl })}
            placeholder="https://id.example.com/authorize"
          />
        )}
        {(login.kind === 'client' || login.kind === 'person') && (
          <Input
            label="Address of the tokens"
            value={login.tokenUrl}
            onInput={(tokenUrl) => onLogin({ ...login, tokenUrl })}
            placeholder="https://id.example.com/token"
          />
        )}
        {login.kind === 'person' && (
          <Input
            label="Scopes"
            value={login.scope}
            onInput={(scope) => onLogin({ ...login, scope })}
            placeholder="read offline_access"
          />
        )}
      </div>
      {login.kind === 'person' && (
        <div class="stack">
          <RedirectHint />
          <div class="row">
            <PersonLoginButton
              login={person}
              subject={{ document: documentOf(login) }}
              label={isLoggedIn ? 'Log in again' : 'Log in'}
              isPrimary={!isLoggedIn}
              isDisabled={incomplete !== undefined}
            />
            {isLoggedIn && <Badge tone="good">logged in</Badge>}
          </div>
          <PersonLoginProgress login={person} />
        </div>
      )}
      {login.kind !== 'none' && (
        <Banner>
          It goes to the API and into the configuration, encrypted there. This page forgets it when you leave.
        </Banner>
      )}
      <div class="row">
        <Button
          type="submit"
          kind="primary"
          icon="search"
          isBusy={isBusy}
          isDisabled={source.trim() === '' || missing !== undefined}
        >
          Look at it
        </Button>
        {missing !== undefined && <span class="muted small">{missing}</span>}
      </div>
    </form>
  );
}
