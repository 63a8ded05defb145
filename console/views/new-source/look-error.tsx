import { StorageError } from '../../data/client.ts';
import { Banner, ErrorBanner } from '../../ui/states.tsx';
import { Text } from '../../ui/values.tsx';

/** Why nothing was found, and what to do about it on this page. */
export function LookError({ error }: { readonly error: unknown }) {
  const way = wayOut(error);
  if (!(error instanceof StorageError) || way === undefined) return <ErrorBanner error={error} />;
  return (
    <Banner kind="bad">
      <p>
        <Text>{error.message}</Text>
      </p>
      <p class="small">{way}</p>
    </Banner>
  );
}

/** When the API has refused us, the login is what to look at. */
export function loginProblemOf(error: unknown): string | undefined {
  const status = statusOf(error);
  if (status === 401) return 'The API wants a login, or does not know this one (401).';
  if (status === 403) return 'The API does not let this login see it (403).';
  return undefined;
}

/** The service gives advice for the command line; undefined where that holds here, too. */
function wayOut(error: unknown): string | undefined {
  const status = statusOf(error);
  if (status === 401 || status === 403) return 'Choose a login above, or correct it, and look again.';
  if (!(error instanceof StorageError)) return undefined;
  if (error.serviceCode === 'response.notJson')
    return 'Give the address of the API itself: the network tab of the browser shows it, and “Copy as cURL” there gives all that is needed.';
  if (error.hint === undefined || !/--\w|\bgex \w/.test(error.hint)) return undefined;
  return 'Correct what is pasted above, and look again.';
}

function statusOf(error: unknown): unknown {
  return error instanceof StorageError ? error.details['apiStatus'] : undefined;
}
