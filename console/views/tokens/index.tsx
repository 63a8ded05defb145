import { client, type Token } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, Loaded } from '../../ui/states.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';

const COLUMNS: readonly Column<Token>[] = [
  {
    id: 'description',
    title: 'Token',
    width: 300,
    show: ({ description }) => <Text>{description}</Text>,
    sortBy: ({ description }) => description,
  },
  { id: 'id', title: 'Id', width: 100, align: 'right', show: ({ id }) => id },
  {
    id: 'rights',
    title: 'Rights',
    width: 180,
    show: ({ isMasterToken, canManageBuckets }) =>
      isMasterToken ? (
        <Badge tone="active" isPlain>
          everything
        </Badge>
      ) : canManageBuckets ? (
        <Badge isPlain>all buckets</Badge>
      ) : (
        <Badge isPlain>limited</Badge>
      ),
  },
  { id: 'created', title: 'Created', width: 140, show: ({ created }) => <RelativeTime value={created} /> },
  {
    id: 'expires',
    title: 'Expires',
    width: 140,
    show: ({ expires }) => (expires === null ? 'never' : <RelativeTime value={expires} />),
  },
];

export default function Tokens() {
  const tokens = useQuery({ key: ['tokens'], load: async () => await client().tokens.list() });
  return (
    <Page title="Tokens" about="Who may do what. A token itself is shown once, when it is made.">
      <Loaded query={tokens}>
        {(all) => <DataTable label="Tokens" columns={COLUMNS} rows={all} rowKey={({ id }) => id} />}
      </Loaded>
    </Page>
  );
}
