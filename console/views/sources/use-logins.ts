import { client } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';

const LOOK_MS = 60_000;

/** Returns the logins of a source that are kept between its runs. */
export function useLogins(component: string, id: string) {
  return useQuery({
    key: ['sources', component, id, 'logins'],
    load: async () => await client().configurations(component).logins(id),
    everyMs: LOOK_MS,
  });
}
