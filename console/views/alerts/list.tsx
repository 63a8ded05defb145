import { useState } from 'preact/hooks';
import { client, type Alert } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { useSources, type SourceRef } from '../../data/sources.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Pager, useOffset } from '../../ui/pager.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';
import { AlertForm } from './form.tsx';
import { isMuted, scopeOf, wordOf } from './words.ts';

/** Alerts of a page of the list. */
const PART = 100;

/** @param isWhole all alerts are there: the service does not sort them, and those of one page say little */
function columnsWith(sources: readonly SourceRef[] | undefined, isWhole: boolean): readonly Column<Alert>[] {
  return [
    {
      id: 'name',
      title: 'Alert',
      width: 220,
      grow: 12,
      show: ({ id, name }) => (
        <Link to={at`/alerts/${id}`}>
          <Text>{name}</Text>
        </Link>
      ),
      ...(isWhole ? { sortBy: ({ name }: Alert) => name } : {}),
    },
    { id: 'state', title: 'State', width: 150, show: (alert) => <AlertState alert={alert} /> },
    {
      id: 'wrong',
      title: 'Wrong now',
      width: 110,
      align: 'right',
      show: ({ wrong }) =>
        wrong.length === 0 ? (
          <span class="muted">–</span>
        ) : (
          <Badge tone={wrong.some(({ severity }) => severity === 'error') ? 'bad' : 'warn'}>
            {String(wrong.length)}
          </Badge>
        ),
      ...(isWhole ? { sortBy: ({ wrong }: Alert) => wrong.length } : {}),
    },
    { id: 'kinds', title: 'Tells of', width: 230, text: ({ kinds }) => kinds.map(wordOf).join(', ') },
    { id: 'scope', title: 'Sources', width: 200, text: (alert) => scopeOf(alert, sources) },
    { id: 'url', title: 'Goes to', width: 220, text: ({ url }) => url },
  ];
}

export function AlertState({ alert }: { readonly alert: Alert }) {
  if (!alert.isEnabled) return <Badge>off</Badge>;
  if (!isMuted(alert)) return <Badge tone="good">on</Badge>;
  return (
    <span>
      silent, <RelativeTime value={alert.mutedUntil} />
    </span>
  );
}

export function AlertList() {
  const sources = useSources();
  const offset = useOffset();
  const alerts = useQuery({
    key: ['alerts', 'list', offset],
    load: async () => await client().alerts.list({ limit: PART, offset }),
    everyMs: 30_000,
    topic: 'alerts',
    keepsPrevious: true,
  });
  return (
    <Loaded query={alerts}>
      {(all) =>
        all.length === 0 && offset === 0 ? (
          <div class="card">
            <EmptyState icon="alert" title="Nobody is told of anything" action={<NewAlert />}>
              An alert posts a message to a chat, a pager or a mail box when a run fails or does not come.
            </EmptyState>
          </div>
        ) : (
          <>
            <DataTable
              label="Alerts"
              columns={columnsWith(sources.data, offset === 0 && all.length < PART)}
              rows={all}
              rowKey={({ id }) => id}
              onOpen={({ id }) => navigate(at`/alerts/${id}`)}
            />
            <Pager noun="alerts" words={['Back', 'Next']} size={PART} shown={all.length} />
          </>
        )
      }
    </Loaded>
  );
}

/** Shows the button that makes an alert, and then the key of its messages, once. */
export function NewAlert() {
  const [isMaking, setMaking] = useState(false);
  // Nowhere but here, and only until it is closed.
  const [made, setMade] = useState<Alert | undefined>();
  return (
    <>
      <Button kind="primary" icon="plus" onPress={() => setMaking(true)}>
        New alert
      </Button>
      {isMaking && (
        <AlertForm
          onClose={() => setMaking(false)}
          onDone={(alert) => {
            setMaking(false);
            if (alert.url.startsWith('mailto:')) navigate(at`/alerts/${alert.id}`);
            else setMade(alert);
          }}
        />
      )}
      {made !== undefined && (
        <Dialog title="Copy the key now">
          <p>
            Messages of <Text>{made.name}</Text> are signed with it: a receiver that has the key knows that
            they come from this service. It is shown this once.
          </p>
          <Secret text={made.secret ?? ''} label="Copy the key" />
          <div>
            <Button kind="primary" onPress={() => navigate(at`/alerts/${made.id}`)}>
              I have copied it
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
