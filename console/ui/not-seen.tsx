import { Page, type PageProps } from './page.tsx';
import { EmptyState } from './states.tsx';

/** Says that a token may not see what would be here: it is not asked for. */
export function NotSeen({
  what,
  ...page
}: Omit<PageProps, 'children'> & {
  /** Things that it would see, such as “sources”. */
  readonly what: string;
}) {
  return (
    <Page {...page}>
      <div class="card">
        <EmptyState icon="token" title={`Your token may see no ${what}`}>
          Whoever has the master token can give it the right to a component.
        </EmptyState>
      </div>
    </Page>
  );
}
