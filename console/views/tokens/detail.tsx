import { useState } from 'preact/hooks';
import { client, type Token } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { currentSession } from '../../data/session.ts';
import { navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { KeyValue, RelativeTime, Text } from '../../ui/values.tsx';
import { TokenForm } from './form.tsx';
import { bucketsOf, rightsOf, type Grant } from './rights.ts';
import { SecretOnce } from './secret.tsx';

const GRANTS: Readonly<Record<Grant, string>> = {
  read: 'reads',
  write: 'reads and writes',
  manage: 'manages',
};

export function TokenDetail({ id }: { readonly id: string }) {
  const token = useQuery({
    key: ['tokens', 'one', id],
    load: async () => withoutSecret(await client().tokens.detail(id)),
  });
  return (
    <Page
      title={token.data?.description ?? `Token ${id}`}
      crumbs={[{ to: '/tokens', text: 'Tokens' }]}
      actions={token.data && <Actions token={token.data} />}
    >
      <Loaded query={token}>{(found) => <Found token={found} />}</Loaded>
    </Page>
  );
}

/** Removes the secret, because the page caches the token for a while. */
function withoutSecret(token: Token): Token {
  const shown = { ...token };
  delete shown.token;
  return shown;
}

type Asked = 'change' | 'delete' | 'refresh';

function Actions({ token }: { readonly token: Token }) {
  const [asked, setAsked] = useState<Asked | undefined>();
  const [refreshed, setRefreshed] = useState<Token | undefined>();
  const { id, isMaster, isReadOnly } = currentSession().token;
  const close = (): void => setAsked(undefined);
  const refresh = useAction(async () => {
    setRefreshed(await client().tokens.refresh(token.id));
    close();
  });
  const remove = useAction(async () => {
    await client().tokens.delete(token.id);
    toast('The token is deleted.');
    navigate('/tokens');
    await invalidate('tokens', 'list');
  });
  return (
    <>
      {isMaster && !token.isMasterToken && (
        <Button icon="edit" onPress={() => setAsked('change')}>
          Change the rights
        </Button>
      )}
      {!isReadOnly && (
        <Button icon="refresh" onPress={() => setAsked('refresh')}>
          Refresh
        </Button>
      )}
      {!isReadOnly && !token.isMasterToken && (
        <Button kind="danger" icon="trash" onPress={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {asked === 'change' && <TokenForm token={token} onClose={close} onDone={close} />}
      {asked === 'refresh' && (
        <Confirm
          title="Give it a new secret?"
          action="Refresh the token"
          onConfirm={() => void refresh.run(undefined)}
          onClose={close}
          isBusy={refresh.isRunning}
          error={refresh.error}
        >
          Whoever uses the old one is refused from then on. The new one is shown once.
          {token.id === id && ' This is the token that you are signed in with.'}
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title="Delete this token?"
          action="Delete the token"
          typed={typedFor(token)}
          onConfirm={() => void remove.run(undefined)}
          onClose={close}
          isBusy={remove.isRunning}
          error={remove.error}
        >
          Whoever uses <Text>{token.description}</Text> is refused from then on. Its jobs and files stay.
        </Confirm>
      )}
      {refreshed !== undefined && (
        <SecretOnce
          token={refreshed}
          onClose={() => {
            setRefreshed(undefined);
            void invalidate('tokens');
          }}
        />
      )}
    </>
  );
}

/** Returns the text to type as a confirmation: a short description in plain characters, else the number. */
function typedFor({ id, description }: Token): string {
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,38}[\x21-\x7e])?$/.test(description) ? description : id;
}

function Found({ token }: { readonly token: Token }) {
  const grants = Object.entries(bucketsOf(token));
  const { componentAccess = [] } = token;
  return (
    <>
      <KeyValue
        items={[
          ['Number', <span class="number">{token.id}</span>],
          [
            'Ends',
            token.isExpired ? (
              <Badge tone="warn">over</Badge>
            ) : token.expires === null ? (
              'never'
            ) : (
              <RelativeTime value={token.expires} />
            ),
          ],
          ['Made', <RelativeTime value={token.created} />],
          [
            'Refreshed',
            token.refreshed === token.created ? (
              <span class="muted">never</span>
            ) : (
              <RelativeTime value={token.refreshed} />
            ),
          ],
          ...(token.creatorToken === undefined
            ? []
            : [['By', <Text>{token.creatorToken.description}</Text>] as const]),
        ]}
      />
      <section class="stack">
        <h2>What it may do</h2>
        <ul class="rights">
          {rightsOf(token).map((right) => (
            <li key={right}>
              <Text>{right}</Text>
            </li>
          ))}
        </ul>
        {!token.isMasterToken && !token.canManageBuckets && grants.length > 0 && (
          <ul class="grants" aria-label="Rights to buckets" tabIndex={0}>
            {grants.map(([bucket, grant]) => (
              <li key={bucket}>
                <Text>{bucket}</Text>
                <span class="muted">{GRANTS[grant]}</span>
              </li>
            ))}
          </ul>
        )}
        {!token.isMasterToken && !token.canManageBuckets && componentAccess.length === 0 && (
          <p class="muted">It sees no sources and no runs.</p>
        )}
      </section>
    </>
  );
}
