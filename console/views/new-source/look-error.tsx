import { StorageError, type Advice } from '../../data/client.ts';
import { Banner, ErrorBanner } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';
import { adviceText } from './advice.ts';

/** Shows why nothing was found, with advice for this page. */
export function LookError({ error }: { readonly error: unknown }) {
  const advice = adviceOf(error);
  if (!(error instanceof StorageError) || advice === undefined) return <ErrorBanner error={error} />;
  return (
    <Banner kind="bad">
      <p class="trial-told">
        <Text>{error.message}</Text>
      </p>
      <p class="small">
        <Text>{adviceText(advice)}</Text>
      </p>
    </Banner>
  );
}

/** Returns a message about the login, if the API has rejected it. */
export function loginProblemOf(error: unknown): string | undefined {
  const advice = adviceOf(error);
  if (advice?.code === 'login')
    return advice.isRefused ? 'The API does not accept this login.' : 'The API wants a login.';
  return advice?.code === 'rights' ? 'The API does not let this login see it.' : undefined;
}

function adviceOf(error: unknown): Advice | undefined {
  // As the client takes it from the service.
  return error instanceof StorageError ? (error.details['advice'] as Advice | undefined) : undefined;
}
