import { useEffect } from 'preact/hooks';
import { client, type Run } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';

const PART = 200;

/** Request as others know it: by the time of its answer, and by where it is to be looked for first. */
interface Sought {
  readonly at: string;
  readonly page: number;
  /** Row of the configuration; empty for none. */
  readonly row: string;
}

/** Looks for the request that the address names by its answer, and has the address hold its place instead. */
export function SeekRequest({
  run,
  job,
  total,
}: {
  readonly run: Run;
  readonly job: string;
  readonly total: number;
}) {
  const { query } = usePlace();
  const sought = {
    at: query.get('answered') ?? '',
    page: Number(query.get('page')) || 1,
    row: query.get('of') ?? '',
  };
  const found = useQuery({
    key: ['runs', run.id, 'seek', job, sought],
    load: async (signal) => await placeOf(run.id, { job, total, sought, signal }),
  });
  const place = found.data ?? -1;
  useEffect(() => {
    if (place >= 0) show(String(place + 1));
  }, [place]);
  return (
    <Loaded query={found}>
      {(at) =>
        at < 0 && (
          <div class="card">
            <EmptyState
              icon="search"
              title="That request is not kept"
              action={<Button onPress={() => show(undefined)}>Show those that are</Button>}
            >
              Of a long run requests in the middle are left out.
            </EmptyState>
          </div>
        )
      }
    </Loaded>
  );
}

function show(request: string | undefined): void {
  setQuery({ request, answered: undefined, page: undefined, of: undefined });
}

/** Returns the place of a request in the list, from 0; -1 when it is not there. */
async function placeOf(
  run: string,
  {
    job,
    total,
    sought,
    signal,
  }: {
    readonly job: string;
    readonly total: number;
    readonly sought: Sought;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const time = Date.parse(sought.at);
  const parts = Array.from({ length: Math.ceil(total / PART) }, (_, part) => part * PART);
  // A page of a job without children stands where its number says.
  const first = Math.floor((sought.page - 1) / PART) * PART;
  for (const offset of [first, ...parts.filter((part) => part !== first)]) {
    const { requests } = await client().runs.explanation(
      run,
      { offset, limit: PART, ...(job === '' ? {} : { job }) },
      { signal },
    );
    const index = requests.findIndex(
      ({ at, page, row = '' }) => Date.parse(at) === time && page === sought.page && row === sought.row,
    );
    if (index >= 0) return offset + index;
  }
  return -1;
}
