import { handFile } from '../../data/handed-file.ts';
import { navigate } from '../../route/router.ts';
import { CSV_FILES, DropZone } from '../../ui/drop-zone.tsx';

/** Takes a file, and goes on to where a table is made of it. */
export function FileZone({ about }: { readonly about: string }) {
  return (
    <DropZone
      label="Choose a file"
      about={about}
      accept={CSV_FILES}
      isSingle
      onFiles={([file]) => {
        if (file === undefined) return;
        handFile(file);
        navigate('/tables/new');
      }}
    />
  );
}
