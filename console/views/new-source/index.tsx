import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import type { ViewProps } from '../../app/views.ts';
import type { Found } from '../../data/client.ts';
import { pretty } from '../../data/pretty.ts';
import { navigate, useUnsaved } from '../../route/router.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { mayUse } from '../../data/session.ts';
import { NEW_SOURCES } from '../../data/sources.ts';
import { NotSeen } from '../../ui/not-seen.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Banner } from '../../ui/states.tsx';
import { DocumentEditor } from './document-editor.tsx';
import { textAt } from './edit-json.ts';
import { FoundDocumentView } from './found-document.tsx';
import { FoundListView } from './found-list.tsx';
import { ImportSource } from './import-source.tsx';
import { usePersonLogin } from '../../data/person-login.ts';
import { PersonLoginButton, PersonLoginProgress, RedirectHint } from '../../ui/person-login.tsx';
import { loginKeyOf, type HeldLogin } from './held-login.ts';
import { LookError, loginProblemOf } from './look-error.tsx';
import { documentOf, NO_LOGIN, type Login } from './login.ts';
import { hasRows, rowIdsOf, tableOf } from './plan.ts';
import { Progress } from '../../ui/trial/progress.tsx';
import { SaveForm } from './save-form.tsx';
import { variablesIn, withSecrets } from './secrets.ts';
import { SourceForm } from './source-form.tsx';
import { TrialSection } from '../../ui/trial/trial-section.tsx';
import { useLook } from './use-look.ts';
import { useTrial } from '../../ui/trial/use-trial.ts';
import './new-source.css';

interface Draft {
  readonly found: Found;
  readonly document: Json;
  /** Field that says when a row has changed. */
  readonly time?: string | undefined;
  /** Secrets for the variables that a document names, as typed. */
  readonly secrets: ReadonlyMap<string, string>;
}

export default function NewSource({ parts: [first] }: ViewProps) {
  if (!mayUse(NEW_SOURCES)) return <NotSeen title="New source" what="sources of this kind" />;
  return first === 'import' ? <ImportSource /> : <SourceFromApi />;
}

function SourceFromApi() {
  const [source, setSource] = useState('');
  const [login, setLogin] = useState<Login>(NO_LOGIN);
  const [draft, setDraft] = useState<Draft | undefined>();
  const [savedAt, setSavedAt] = useState<string | undefined>();
  const [isEditing, setEditing] = useState(false);
  const ready = useMemo(
    () => (draft === undefined ? undefined : withSecrets(draft.document, draft.secrets)),
    [draft],
  );
  const missing = useMemo(() => (ready === undefined ? [] : variablesIn(ready)), [ready]);
  const isEmpty = draft !== undefined && hasRows(draft.document) && rowIdsOf(draft.document).length === 0;
  const [held, setHeld] = useState<HeldLogin | undefined>();
  /** Key of the login that is made: of the form, before there is a draft. */
  const asked = useRef<string | undefined>(undefined);
  const person = usePersonLogin((done) => {
    if (asked.current !== undefined) setHeld({ key: asked.current, done });
  });
  const ofForm = login.kind === 'person' ? loginKeyOf(documentOf(login)) : undefined;
  const ofDraft = ready === undefined ? undefined : loginKeyOf(ready);
  asked.current = ofDraft ?? ofForm;
  const logins = held?.done.logins;
  const isLoggedOut = ofDraft !== undefined && held?.key !== ofDraft;
  const onLogins = (renewed: string): void =>
    setHeld((before) => before && { ...before, done: { ...before.done, logins: renewed } });
  const trial = useTrial(
    isEmpty || isLoggedOut || missing.length > 0 ? undefined : ready,
    ready === undefined ? '' : pretty(ready),
    { held: { logins, onLogins } },
  );
  const look = useLook((found) => {
    trial.forget();
    setDraft({
      found,
      document: parseExact(found.configuration),
      secrets: new Map(),
      ...(found.form === 'list' && found.time !== null ? { time: found.time } : {}),
    });
  }, onLogins);
  useUnsaved(draft !== undefined && savedAt === undefined);
  useEffect(() => {
    // Once nothing asks any more whether to leave what is not saved.
    if (savedAt !== undefined) navigate(savedAt);
  }, [savedAt]);
  const change = (document: Json): void => setDraft((before) => before && { ...before, document });

  return (
    <Page
      title="New source"
      crumbs={[{ to: '/sources', text: 'Sources' }]}
      about="From a link to tables: look at an API, see what comes of it, save it."
      actions={<ButtonLink to="/new/import">Import from another tool</ButtonLink>}
    >
      <SourceForm
        source={source}
        onSource={setSource}
        login={login}
        onLogin={setLogin}
        isBusy={look.isBusy}
        loginProblem={loginProblemOf(look.error)}
        person={person}
        isLoggedIn={ofForm !== undefined && held?.key === ofForm}
        onLook={() => {
          setDraft(undefined);
          trial.forget();
          look.start(source, login, logins);
        }}
      />
      {look.isBusy && <Progress title="Looking at it" steps={look.steps} onStop={look.stop} />}
      {look.isStopped && <Banner>Stopped. Nothing is kept of it.</Banner>}
      {look.error !== undefined && <LookError error={look.error} />}
      {draft !== undefined && (
        <>
          {draft.found.form === 'list' ? (
            <FoundListView
              found={draft.found}
              document={draft.document}
              time={draft.time}
              onTime={(time) => setDraft({ ...draft, time })}
              onChange={change}
              isBusy={look.isBusy}
              onAgain={look.again}
            />
          ) : (
            <FoundDocumentView
              found={draft.found}
              document={draft.document}
              secrets={draft.secrets}
              onSecret={(name, value) =>
                setDraft({ ...draft, secrets: new Map(draft.secrets).set(name, value) })
              }
              onChange={change}
              isBusy={look.isBusy}
              onTry={() => look.start(source, login, logins, { tries: true })}
            />
          )}
          <details class="card new-card" onToggle={(event) => setEditing(event.currentTarget.open)}>
            <summary>The configuration as JSON</summary>
            {isEditing && <DocumentEditor document={draft.document} onChange={change} />}
          </details>
          {draft.found.form === 'document' && ofDraft !== undefined && ready !== undefined && (
            <section class="card new-card stack" aria-labelledby="new-person">
              <h2 id="new-person">Log in</h2>
              <p class="muted">
                A person logs in to this API, in the browser. What comes is kept encrypted, for its runs.
              </p>
              <RedirectHint />
              <div class="row">
                <PersonLoginButton
                  login={person}
                  subject={{ document: ready }}
                  label={isLoggedOut ? 'Log in' : 'Log in again'}
                  isPrimary={isLoggedOut}
                  isDisabled={missing.length > 0}
                />
                {!isLoggedOut && <Badge tone="good">logged in</Badge>}
              </div>
              <PersonLoginProgress login={person} />
            </section>
          )}
          <TrialSection
            trial={trial}
            blocked={
              isEmpty
                ? 'Take a list first.'
                : missing.length > 0
                  ? `Fill in ${missing.join(' and ')} first: without the value the API cannot be asked.`
                  : isLoggedOut
                    ? 'Log in first: the API lets nobody else in.'
                    : undefined
            }
          />
          {ready !== undefined && !isEmpty && (
            <SaveForm
              key={draft.found.configuration}
              document={ready}
              proposed={nameOf(draft)}
              logins={isLoggedOut || ofDraft === undefined ? undefined : logins}
              onSaved={(to) => {
                setLogin(NO_LOGIN);
                setSavedAt(to);
              }}
            />
          )}
        </>
      )}
    </Page>
  );
}

function nameOf({ found, document }: Draft): string {
  if (found.form === 'document') return found.title === '' ? 'New source' : found.title;
  const base = textAt(document, ['parameters', 'api', 'baseUrl']) ?? '';
  const host = URL.canParse(base) ? new URL(base).hostname.replace(/^(?:api|www)\./, '') : '';
  return `${host} ${tableOf(document)}`.trim() || 'New source';
}
