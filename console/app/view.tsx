import { Component, type ComponentChildren, type FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../ui/states.tsx';
import type { View, ViewProps } from './views.ts';

/** Kept for good: a view is loaded once. */
const loaded = new Map<string, FunctionComponent<ViewProps>>();

/** Shows the view of an address, loaded at its first use. */
export function ViewOf({
  view,
  parts,
}: {
  readonly view: View | undefined;
  readonly parts: readonly string[];
}) {
  const [state, setState] = useState<{ readonly name?: string; readonly error?: unknown }>({});
  useEffect(() => {
    if (view === undefined || loaded.has(view.name)) return undefined;
    let isCurrent = true;
    view.load().then(
      (module) => {
        loaded.set(view.name, module.default);
        if (isCurrent) setState({ name: view.name });
      },
      (error: unknown) => {
        if (isCurrent) setState({ name: view.name, error });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [view]);
  if (view === undefined)
    return (
      <Page title="Not found">
        <EmptyState title="There is nothing here" action={<ButtonLink to="/">Go to the start</ButtonLink>}>
          The address leads nowhere in this version of the console.
        </EmptyState>
      </Page>
    );
  const Found = loaded.get(view.name);
  if (Found !== undefined)
    return (
      <Boundary key={view.name}>
        <Found parts={parts} />
      </Boundary>
    );
  if (state.name === view.name && state.error !== undefined)
    return (
      <EmptyState
        icon="alert"
        title="This part of the console could not be loaded"
        action={<Button onPress={() => window.location.reload()}>Load the page again</Button>}
      >
        The service is away, or has been brought up to date since this page was opened.
      </EmptyState>
    );
  return <Skeleton />;
}

/** A mistake in a view takes down that view, and not the rest. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static override getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <ErrorState error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
