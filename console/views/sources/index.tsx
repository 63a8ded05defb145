import type { ViewProps } from '../../app/views.ts';
import { SourceList } from './list.tsx';
import { maySee } from '../../data/session.ts';
import { NotSeen } from '../../ui/not-seen.tsx';
import { RowPage, SourcePage } from './source-page.tsx';
import './sources.css';

/** Configurations: the list, one with its settings, rows, state and versions, and a row with its own. */
export default function Sources({ parts: [component, id, what, row] }: ViewProps) {
  if (!maySee(component)) return <NotSeen title="Sources" what="sources" />;
  if (component === undefined || id === undefined) return <SourceList />;
  if (what === 'rows' && row !== undefined) return <RowPage {...{ component, id, row }} />;
  return <SourcePage {...{ component, id }} />;
}
