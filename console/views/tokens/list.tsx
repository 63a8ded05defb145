import { useState } from 'preact/hooks';
import { client, type Token } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { currentSession } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Banner, Loaded } from '../../ui/states.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';
import { TokenForm } from './form.tsx';
import { rightsOf } from './rights.ts';
import { SecretOnce } from './secret.tsx';

const COLUMNS: readonly Column<Token>[] = [
  {
    id: 'description',
    title: 'Token',
    width: 214,
    grow: 4,
    show: ({ id, description }) => (
      <>
        <Link to={at`/tokens/${id}`}>
          <Text>{description}</Text>
        </Link>{' '}
        {id === currentSession().token.id && <Badge isPlain>yours</Badge>}
      </>
    ),
    sortBy: ({ description }) => description,
  },
  {
    id: 'rights',
    title: 'May do',
    width: 466,
    grow: 0.2,
    show: (token) => <Text>{rightsOf(token).join('; ')}</Text>,
  },
  {
    id: 'expires',
    title: 'Ends',
    width: 92,
    grow: 0,
    show: ({ expires, isExpired }) =>
      isExpired ? (
        <Badge tone="warn">over</Badge>
      ) : expires === null ? (
        <span class="muted">never</span>
      ) : (
        <RelativeTime value={expires} />
      ),
  },
  {
    id: 'created',
    title: 'Made',
    width: 148,
    grow: 0,
    show: ({ created }) => <RelativeTime value={created} />,
    sortBy: ({ created }) => created,
  },
  {
    id: 'refreshed',
    title: 'Refreshed',
    width: 148,
    grow: 0,
    show: ({ created, refreshed }) =>
      created === refreshed ? <span class="muted">never</span> : <RelativeTime value={refreshed} />,
  },
  {
    id: 'by',
    title: 'By',
    width: 118,
    show: ({ creatorToken }) =>
      creatorToken === undefined ? <span class="muted">–</span> : <Text>{creatorToken.description}</Text>,
  },
];

export function TokenList() {
  const { isMaster } = currentSession().token;
  const [isMaking, setMaking] = useState(false);
  // Nowhere but here, and only until it is closed.
  const [made, setMade] = useState<Token | undefined>();
  const tokens = useQuery({ key: ['tokens', 'list'], load: async () => await client().tokens.list() });
  return (
    <Page
      title="Tokens"
      about="Who may do what. A token itself is shown once, when it is made."
      actions={
        isMaster && (
          <Button kind="primary" icon="plus" onPress={() => setMaking(true)}>
            New token
          </Button>
        )
      }
    >
      {!isMaster && (
        <Banner>Only the master token makes tokens and sees those of others. You see your own.</Banner>
      )}
      <Loaded query={tokens}>
        {(all) => (
          <DataTable
            label="Tokens"
            columns={COLUMNS}
            rows={all}
            rowKey={({ id }) => id}
            onOpen={({ id }) => navigate(at`/tokens/${id}`)}
          />
        )}
      </Loaded>
      {isMaking && (
        <TokenForm
          onClose={() => setMaking(false)}
          onDone={(token) => {
            setMaking(false);
            setMade(token);
          }}
        />
      )}
      {made !== undefined && <SecretOnce token={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}
