import type { ComponentChildren } from 'preact';
import { StorageError } from '../data/client.ts';
import { wordsOf } from '../data/query.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import './states.css';

/** Shows that there is nothing yet, which is no mistake: what would be here, and how to add it. */
export function EmptyState({
  icon = 'info',
  title,
  children,
  action,
}: {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class="state">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Shows a failure in place of the content: its cause, a hint, and a retry. */
export function ErrorState({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { message, hint, reference } = wordsOf(error);
  const { title, canPass } = kindOf(error);
  return (
    <div class="state" role="alert">
      <Icon name={canPass ? 'alert' : 'info'} size={32} />
      <h2>{title}</h2>
      <p>{message}</p>
      {hint !== undefined && <p>{hint}</p>}
      {reference !== undefined && <p class="small mono">{reference}</p>}
      {onRetry && (
        <Button icon="refresh" onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

function kindOf(error: unknown): { title: string; canPass: boolean } {
  const code = error instanceof StorageError ? error.code : '';
  if (code === 'storage.forbidden') return { title: 'Your token may not see this', canPass: false };
  if (code === 'storage.notFound') return { title: 'There is nothing here', canPass: false };
  return { title: 'This could not be loaded', canPass: true };
}

/** Shows a message beside the content. */
export function Banner({
  kind = 'info',
  children,
  action,
}: {
  readonly kind?: 'bad' | 'good' | 'info' | 'warn';
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
}) {
  return (
    <div class={`banner banner-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <Icon name={kind === 'bad' || kind === 'warn' ? 'alert' : kind === 'good' ? 'check' : 'info'} />
      <div>{children}</div>
      {action}
    </div>
  );
}

/** Shows an error beside the content: in a form, or above a list that is old. */
export function ErrorBanner({ error }: { readonly error: unknown }) {
  const { message, hint, reference } = wordsOf(error);
  return (
    <Banner kind="bad">
      <p>{message}</p>
      {hint !== undefined && <p class="small">{hint}</p>}
      {reference !== undefined && <p class="small mono">{reference}</p>}
    </Banner>
  );
}

export function Skeleton({
  lines = 8,
  label = 'Loading',
}: {
  readonly lines?: number;
  readonly label?: string;
}) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}

export type Tone = 'active' | 'bad' | 'good' | 'neutral' | 'warn';

/** Shows a state in a word. */
export function Badge({
  tone = 'neutral',
  isPlain = false,
  children,
}: {
  readonly tone?: Tone;
  /** Without the point: a kind, and no state. */
  readonly isPlain?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={`badge${tone === 'neutral' ? '' : ` badge-${tone}`}${isPlain ? ' badge-plain' : ''}`}>
      {children}
    </span>
  );
}

interface Shown<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  refetch(): unknown;
}

/** Shows the states of a query: loading, failed, loaded (with a later failure above it). */
export function Loaded<T>({
  query,
  children,
  loading = <Skeleton />,
}: {
  readonly query: Shown<T>;
  readonly children: (data: T) => ComponentChildren;
  readonly loading?: ComponentChildren;
}) {
  const { data, error, isPending } = query;
  if (data === undefined) {
    if (isPending) return <>{loading}</>;
    return <ErrorState error={error} onRetry={() => void query.refetch()} />;
  }
  return (
    <>
      {error !== null && error !== undefined && <ErrorBanner error={error} />}
      {children(data)}
    </>
  );
}
