import type { ViewProps } from '../../app/views.ts';
import { JobDetail } from './detail.tsx';
import { JobList } from './list.tsx';

export default function Jobs({ parts: [id] }: ViewProps) {
  return id === undefined ? <JobList /> : <JobDetail id={id} />;
}
