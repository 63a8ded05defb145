import { useEffect, useRef, useState } from 'preact/hooks';
import type { Editor, EditorProblem } from './editor.ts';
import { ErrorBanner, Skeleton } from './states.tsx';
import './code-editor.css';

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** A JSON schema: completion, descriptions and problems come of it. Another one makes another editor. */
  readonly schema?: object | undefined;
  readonly problems?: readonly EditorProblem[];
  readonly isReadOnly?: boolean;
}

const NONE: readonly EditorProblem[] = [];

/** An editor of JSON, which is loaded when it is first shown. */
export function CodeEditor({
  label,
  value,
  onChange,
  schema,
  problems = NONE,
  isReadOnly = false,
}: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | undefined>();
  const [error, setError] = useState<unknown>();
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    import('./editor.ts').then(({ createEditor }) => {
      if (isGone || place.current === null) return;
      made = createEditor({
        parent: place.current,
        label,
        text: latest.current.value,
        schema,
        isReadOnly,
        onChange: (text) => latest.current.onChange(text),
      });
      setEditor(made);
    }, setError);
    return () => {
      isGone = true;
      made?.destroy();
      setEditor(undefined);
    };
  }, [label, schema, isReadOnly]);
  useEffect(() => {
    if (editor !== undefined && editor.text !== value) editor.setText(value);
  }, [editor, value]);
  useEffect(() => editor?.setProblems(problems), [editor, problems]);
  return (
    <div class="code-editor card">
      {error !== undefined && <ErrorBanner error={error} />}
      {editor === undefined && error === undefined && <Skeleton lines={6} />}
      <div ref={place} />
    </div>
  );
}
