import type { FunctionComponent } from 'preact';
import type { IconName } from '../ui/icon.tsx';

export interface ViewProps {
  /** The parts of the path behind that of the view, unescaped: of `/tables/in.c-main/users`, two. */
  readonly parts: readonly string[];
}

export interface View {
  /** Name of its folder in `console/views/`. */
  readonly name: string;
  /** First part of its paths, none for the first page; `src/service/http/console/page.ts` has it, too. */
  readonly place: string;
  readonly title: string;
  readonly icon: IconName;
  /** Behind `g`. */
  readonly key?: string;
  /** True when the navigation shows it. */
  readonly isInNavigation: boolean;
  readonly load: () => Promise<{ readonly default: FunctionComponent<ViewProps> }>;
}

/** Each is a chunk of its own, loaded when it is first shown. */
export const VIEWS: readonly View[] = [
  {
    name: 'start',
    place: '',
    title: 'Start',
    icon: 'info',
    key: 'h',
    isInNavigation: false,
    load: () => import('../views/start/index.tsx'),
  },
  {
    name: 'tables',
    place: 'tables',
    title: 'Tables',
    icon: 'table',
    key: 't',
    isInNavigation: true,
    load: () => import('../views/tables/index.tsx'),
  },
  {
    name: 'sql',
    place: 'sql',
    title: 'SQL',
    icon: 'query',
    key: 'q',
    isInNavigation: true,
    load: () => import('../views/sql/index.tsx'),
  },
  {
    name: 'sources',
    place: 'sources',
    title: 'Sources',
    icon: 'source',
    key: 's',
    isInNavigation: true,
    load: () => import('../views/sources/index.tsx'),
  },
  {
    name: 'runs',
    place: 'runs',
    title: 'Runs',
    icon: 'run',
    key: 'r',
    isInNavigation: true,
    load: () => import('../views/runs/index.tsx'),
  },
  {
    name: 'jobs',
    place: 'jobs',
    title: 'Jobs',
    icon: 'job',
    key: 'j',
    isInNavigation: true,
    load: () => import('../views/jobs/index.tsx'),
  },
  {
    name: 'files',
    place: 'files',
    title: 'Files',
    icon: 'file',
    key: 'f',
    isInNavigation: true,
    load: () => import('../views/files/index.tsx'),
  },
  {
    name: 'alerts',
    place: 'alerts',
    title: 'Alerts',
    icon: 'alert',
    key: 'a',
    isInNavigation: true,
    load: () => import('../views/alerts/index.tsx'),
  },
  {
    name: 'tokens',
    place: 'tokens',
    title: 'Tokens',
    icon: 'token',
    key: 'k',
    isInNavigation: true,
    load: () => import('../views/tokens/index.tsx'),
  },
  {
    name: 'new-source',
    place: 'new',
    title: 'New source',
    icon: 'plus',
    key: 'n',
    isInNavigation: false,
    load: () => import('../views/new-source/index.tsx'),
  },
];
