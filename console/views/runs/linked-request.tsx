import { client, type Run, type RunRequest } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { nameOf, SentDetails } from './sent-requests.tsx';
import { attemptsOf, type Attempt } from './spans.tsx';

const PART = 1000;

interface Linked {
  readonly sent: RunRequest;
  readonly attempt: Attempt | undefined;
}

const close = (): void => setQuery({ sent: undefined });

/** Shows the request that a link names, which is in no list here: the link was copied while the run went on. */
export function LinkedRequest({ run, name }: { readonly run: Run; readonly name: string }) {
  const found = useQuery({
    key: ['runs', run.id, 'linked', name],
    load: async (signal) => (await find(run.id, name, signal)) ?? null,
  });
  return (
    <Loaded query={found}>
      {(linked) =>
        linked === null ? (
          <div class="card">
            <EmptyState
              icon="search"
              title="The request of this link is not kept"
              action={<Button onPress={close}>Show those that are</Button>}
            >
              Of a long run the first thousands are kept, and those that failed.
            </EmptyState>
          </div>
        ) : (
          <SentDetails {...linked} onClose={close} />
        )
      }
    </Loaded>
  );
}

async function find(run: string, name: string, signal: AbortSignal): Promise<Linked | undefined> {
  const before: RunRequest[] = [];
  for (;;) {
    const { requests, total } = await client().runs.requests(
      run,
      { offset: before.length, limit: PART },
      { signal },
    );
    before.push(...requests);
    const sent = requests.find((each) => nameOf(each) === name);
    if (sent !== undefined) return { sent, attempt: attemptsOf(before).get(sent) };
    if (requests.length === 0 || before.length >= total) return undefined;
  }
}
