import { useState } from 'preact/hooks';
import { client, type Bucket } from '../../data/client.ts';
import { takeFile } from '../../data/handed-file.ts';
import { useQuery } from '../../data/query.ts';
import { mayMakeBuckets, mayWrite } from '../../data/session.ts';
import { Input, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { shownText } from '../../../src/lib/shown-text.ts';
import { ImportAsTable } from './import.tsx';

const NEW = '';

/** Creates a table from a file, in an existing bucket or a new one. */
export function NewTable() {
  const [file] = useState(takeFile);
  const buckets = useQuery({ key: ['buckets'], load: async () => await client().buckets.list() });
  return (
    <Page
      title="A table from a file"
      crumbs={[{ to: '/tables', text: 'Tables' }]}
      about="The first line of the file has the names of the columns."
    >
      <Loaded query={buckets}>{(all) => <Found buckets={all} file={file} />}</Loaded>
    </Page>
  );
}

function Found({ buckets, file }: { readonly buckets: readonly Bucket[]; readonly file: File | undefined }) {
  const given = buckets.filter(({ id }) => mayWrite(id));
  const [bucket, setBucket] = useState(() => given[0]?.id ?? NEW);
  const [name, setName] = useState('files');
  if (given.length === 0 && !mayMakeBuckets())
    return (
      <div class="card">
        <EmptyState icon="table" title="There is no bucket that your token may write into">
          Whoever has the master token can make one, and give your token the right to it.
        </EmptyState>
      </div>
    );
  async function into(): Promise<string> {
    if (bucket !== NEW) return bucket;
    // It is there already when a first try came so far.
    const found = (await client().buckets.list()).find(({ id }) => id === `in.c-${name}`);
    return (found ?? (await client().buckets.create({ name, stage: 'in' }))).id;
  }
  return (
    <ImportAsTable into={into} first={file}>
      <Select
        label="Bucket"
        value={bucket}
        options={[
          ...given.map(({ id }) => ({ value: id, text: shownText(id) })),
          ...(mayMakeBuckets() ? [{ value: NEW, text: 'A new bucket' }] : []),
        ]}
        onChange={setBucket}
      />
      {bucket === NEW && (
        <Input
          label="Name of the bucket"
          hint="Letters, digits, hyphens and underscores."
          value={name}
          onInput={setName}
          isRequired
          isMono
        />
      )}
    </ImportAsTable>
  );
}
