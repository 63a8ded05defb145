import type { ViewProps } from '../../app/views.ts';
import { maySee } from '../../data/session.ts';
import { NotSeen } from '../../ui/not-seen.tsx';
import { Days } from './days.tsx';
import { Problems } from './problems.tsx';
import { RunList } from './run-list.tsx';
import { RunPage } from './run-page.tsx';
import { Schedules } from './schedules.tsx';
import './runs.css';

export default function Runs({ parts: [first, component, configuration] }: ViewProps) {
  if (!maySee(first === 'schedules' ? component : undefined)) return <NotSeen title="Runs" what="runs" />;
  if (first === undefined) return <RunList />;
  if (first === 'charts') return <Days />;
  if (first === 'problems') return <Problems />;
  if (first === 'schedules') return <Schedules component={component} configuration={configuration} />;
  return <RunPage key={first} id={first} />;
}
