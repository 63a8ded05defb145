import { setQuery, usePlace } from '../../route/router.ts';
import { currentSession, maySee } from '../../data/session.ts';
import type { ViewProps } from '../../app/views.ts';
import { Page } from '../../ui/page.tsx';
import { Banner } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AlertDetail } from './detail.tsx';
import { AlertList, NewAlert } from './list.tsx';
import { SourceStates } from './source-states.tsx';

export default function Alerts({ parts: [id] }: ViewProps) {
  return id === undefined || !currentSession().token.isMaster ? <Overview /> : <AlertDetail id={id} />;
}

/** Shows who is told of what, and the state of the sources. */
function Overview() {
  const { query } = usePlace();
  const { isMaster } = currentSession().token;
  if (!isMaster)
    return (
      <Page title="Alerts" about={ABOUT}>
        <Banner>
          Only the master token makes alerts and sees them.
          {maySee() ? ' You see the state of your sources.' : ' Your token may see no sources.'}
        </Banner>
        {maySee() && <SourceStates />}
      </Page>
    );
  return (
    <Page title="Alerts" about={ABOUT} actions={<NewAlert />}>
      <Tabs
        label="Alerts and sources"
        tabs={[
          { name: 'alerts', text: 'Alerts' },
          { name: 'sources', text: 'State of the sources' },
        ]}
        current={query.get('tab') === 'sources' ? 'sources' : 'alerts'}
        onChange={(tab) =>
          setQuery({
            tab: tab === 'alerts' ? undefined : tab,
            state: undefined,
            search: undefined,
            offset: undefined,
          })
        }
      >
        {query.get('tab') === 'sources' ? <SourceStates /> : <AlertList />}
      </Tabs>
    </Page>
  );
}

const ABOUT = 'Who is told when runs fail, are in doubt, do not come, or bring other numbers than before.';
