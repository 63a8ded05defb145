import { branch, client } from '../data/client.ts';
import { queries, useQuery } from '../data/query.ts';
import { useStore } from '../data/store.ts';
import { Select } from '../ui/field.tsx';

/** Chooses the branch whose content the views show; rendered only when there are development branches. */
export function BranchSwitcher() {
  const chosen = useStore(branch);
  const { data } = useQuery({ key: ['branches'], load: async () => await client().branches.list() });
  if (data === undefined || data.length < 2) return null;
  const main = data.find(({ isDefault }) => isDefault);
  return (
    <Select
      label="Branch"
      isLabelHidden
      value={chosen === undefined ? '' : String(chosen)}
      options={data.map(({ id, name }) => ({ value: id === main?.id ? '' : String(id), text: name }))}
      onChange={(value) => {
        branch.set(value === '' ? undefined : Number(value));
        void queries.invalidateQueries();
      }}
    />
  );
}
