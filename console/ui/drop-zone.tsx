import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import './drop-zone.css';

/** File types that a table can be made of, for the `accept` of an `input`. */
export const CSV_FILES = '.csv,.gz,.txt,.tsv,text/csv,application/gzip';

/** Takes files that are dropped on it, or chosen by its button. */
export function DropZone({
  label,
  about,
  accept,
  isSingle = false,
  isDisabled = false,
  onFiles,
}: {
  /** Verb and noun: `Choose files`. */
  readonly label: string;
  readonly about: ComponentChildren;
  /** As of an `input`: `.csv,.gz`. Default: everything. */
  readonly accept?: string;
  readonly isSingle?: boolean;
  readonly isDisabled?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  // Entering a part of it comes before leaving the one before: counted, not switched.
  const [depth, setDepth] = useState(0);
  function take(list: FileList | null | undefined): void {
    const files = [...(list ?? [])];
    if (files.length > 0 && !isDisabled) onFiles(isSingle ? files.slice(0, 1) : files);
  }
  return (
    <div
      class={depth > 0 ? 'drop-zone drop-zone-over' : 'drop-zone'}
      onDragEnter={(event) => {
        event.preventDefault();
        setDepth((before) => before + 1);
      }}
      onDragOver={(event) => event.preventDefault()}
      onDragLeave={() => setDepth((before) => Math.max(0, before - 1))}
      onDrop={(event) => {
        event.preventDefault();
        setDepth(0);
        take(event.dataTransfer?.files);
      }}
    >
      <Icon name="upload" />
      <span class="muted">{about}</span>
      <Button isDisabled={isDisabled} onPress={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={label}
        multiple={!isSingle}
        accept={accept}
        onChange={(event) => {
          take(event.currentTarget.files);
          // The same file may be chosen again.
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
