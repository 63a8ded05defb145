import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { StorageError } from '../../data/client.ts';
import { useAction } from '../../data/query.ts';
import { pretty } from '../../data/pretty.ts';
import { useUnsaved } from '../../route/router.ts';
import { toast } from '../../ui/toast.tsx';
import { equalJson } from '../../../src/lib/json/equal.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import { parsed } from './document.ts';
import { textOf, type Stored, type Subject } from './subject.ts';

/** Draft of a configuration, with the version that it is based on. */
export interface Draft {
  readonly text: string;
  /** Undefined while the text is no JSON. */
  readonly value: Json | undefined;
  /** Stored version when the editing began. */
  readonly base: Stored;
  readonly isChanged: boolean;
  /** Version that someone else has saved meanwhile. */
  readonly theirs: Stored | undefined;
  /** Another one after each saving: what editors remember of typed secrets goes with the old one. */
  readonly generation: number;
  readonly note: string;
  readonly setNote: (note: string) => void;
  readonly setText: (text: string) => void;
  readonly setValue: (value: Json) => void;
  readonly discard: () => void;
  /** Goes on from what someone else has saved, with this text. */
  readonly rebase: (text: string) => void;
  readonly save: () => Promise<void>;
  readonly isSaving: boolean;
  readonly error: unknown;
}

interface Writing {
  readonly base: Stored;
  readonly text: string;
  readonly generation: number;
}

const begin = (generation: number, base: Stored): Writing => ({ base, text: textOf(base), generation });

/** Returns the draft of a configuration or a row. It lives as long as the page, even when the session ends. */
export function useDraft(subject: Subject): Draft {
  const { stored } = subject;
  const [writing, setWriting] = useState(() => begin(0, stored));
  const [found, setFound] = useState<Stored | undefined>();
  const [note, setNote] = useState('');
  const latest = useRef(writing);
  latest.current = writing;
  const original = useMemo(() => textOf(writing.base), [writing.base]);
  const value = useMemo(() => parsed(writing.text), [writing.text]);
  const isChanged = writing.text !== original;
  useUnsaved(isChanged);

  const newest = found !== undefined && found.version > stored.version ? found : stored;
  const isBehind = newest.version > writing.base.version;
  const isSame = isBehind && equalJson(newest.configuration, writing.base.configuration);
  useEffect(() => {
    if (!isBehind) return;
    if (!isChanged) setWriting(begin(writing.generation + 1, newest));
    // Something else of it has changed: its name, or a row.
    else if (isSame) setWriting({ ...writing, base: newest });
  }, [isBehind, isSame, isChanged, newest.version]);

  const action = useAction(async () => {
    const { text, base } = latest.current;
    const configuration = parsed(text);
    if (configuration === undefined) throw new Error('This is no JSON yet: mend the text, and save then.');
    const changes = { configuration, ...(note.trim() === '' ? {} : { changeDescription: note.trim() }) };
    const done = await saved(subject, changes, base);
    if (done.isRefused) {
      setFound(done.stored);
      return;
    }
    // Changes typed while the draft was being saved are kept.
    const { text: now, generation } = latest.current;
    if (now === text) setWriting(begin(generation + 1, done.stored));
    else setWriting({ text: now, base: done.stored, generation });
    setNote('');
    toast('Saved');
  });

  return {
    text: writing.text,
    value,
    base: writing.base,
    isChanged,
    theirs: !action.isRunning && isChanged && isBehind && !isSame ? newest : undefined,
    generation: writing.generation,
    note,
    setNote,
    setText: (text) => setWriting((before) => ({ ...before, text })),
    setValue: (next) => setWriting((before) => ({ ...before, text: pretty(next) })),
    discard: () => setWriting(begin(writing.generation + 1, newest)),
    rebase: (text) => setWriting({ text, base: newest, generation: writing.generation + 1 }),
    save: async () => await action.run(undefined),
    isSaving: action.isRunning,
    error: action.error,
  };
}

interface Outcome {
  readonly isRefused: boolean;
  readonly stored: Stored;
}

/** Saves over the version that was read; a change elsewhere in it, such as a row, is no conflict. */
async function saved(
  subject: Subject,
  changes: { readonly configuration: Json; readonly changeDescription?: string },
  base: Stored,
): Promise<Outcome> {
  let { version } = base;
  for (;;) {
    try {
      return { isRefused: false, stored: await subject.update({ ...changes, ifVersion: version }) };
    } catch (error) {
      if (!(error instanceof StorageError) || error.details['status'] !== 412) throw error;
      const stored = await subject.read();
      if (!equalJson(stored.configuration, base.configuration) || stored.version === version)
        return { isRefused: true, stored };
      ({ version } = stored);
    }
  }
}
