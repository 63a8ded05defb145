import { useEffect, useRef, useState } from 'preact/hooks';
import { uploadFile } from '../../data/file-transfer.ts';
import { invalidate } from '../../data/query.ts';
import { IconButton } from '../../ui/button.tsx';
import { DropZone } from '../../ui/drop-zone.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { bytesText, Text } from '../../ui/values.tsx';
import { shownText } from '../../../src/lib/shown-text.ts';

interface Upload {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
  /** From 0 to 1. */
  readonly part: number;
  readonly error?: unknown;
  readonly stop: () => void;
}

let last = 0;

/** Takes files, and shows how far each is. */
export function Uploads() {
  const [all, setAll] = useState<readonly Upload[]>([]);
  const alive = useRef(true);
  useEffect(() => () => void (alive.current = false), []);

  function change(id: number, values: Partial<Upload> | undefined): void {
    if (!alive.current) return;
    setAll((before) =>
      values === undefined
        ? before.filter((each) => each.id !== id)
        : before.map((each) => (each.id === id ? { ...each, ...values } : each)),
    );
  }

  async function send(file: File): Promise<void> {
    last += 1;
    const id = last;
    const ending = new AbortController();
    const upload = { id, name: file.name, bytes: file.size, part: 0, stop: () => ending.abort() };
    setAll((before) => [...before, upload]);
    try {
      await uploadFile(file, { signal: ending.signal, onProgress: (part) => change(id, { part }) });
      change(id, undefined);
      toast(`${shownText(file.name)} is uploaded.`);
      await invalidate('files');
    } catch (error) {
      change(id, ending.signal.aborted ? undefined : { error });
    }
  }

  return (
    <>
      <DropZone
        label="Choose files"
        about="Drop files here to upload them. Each is kept for 15 days, and may have 2 GB."
        onFiles={(files) => files.forEach((file) => void send(file))}
      />
      {all.length > 0 && (
        <ul class="uploads" aria-label="Uploads">
          {all.map(({ id, name, bytes, part, error, stop }) => (
            <li key={id}>
              <div class="spread">
                <span>
                  <Text>{name}</Text> <span class="muted small">{bytesText(bytes)}</span>
                </span>
                <IconButton
                  icon="close"
                  label={error === undefined ? `Stop ${shownText(name)}` : 'Close'}
                  onPress={() => (error === undefined ? stop() : change(id, undefined))}
                />
              </div>
              {error === undefined ? (
                <progress max={1} value={part} aria-label={`Upload of ${shownText(name)}`} />
              ) : (
                <ErrorBanner error={error} />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
