import { useEffect, useState } from 'preact/hooks';
import { parseExact } from '../../../src/lib/json/parse.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import { useCheck } from '../../data/check.ts';
import { pretty } from '../../data/pretty.ts';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { ProblemList } from '../../ui/problem-list.tsx';
import { COMPONENT } from './component.ts';

export interface DocumentEditorProps {
  readonly document: Json;
  readonly onChange: (document: Json) => void;
}

/**
 * Edits the whole configuration, for settings without a field in the form. Typed text is applied as soon as it is JSON.
 */
export function DocumentEditor({ document, onChange }: DocumentEditorProps) {
  const [typed, setTyped] = useState({ text: pretty(document), of: document });
  const [goTo, setGoTo] = useState<{ line?: number | undefined; column?: number | undefined } | undefined>();
  useEffect(() => {
    // Changed by the form, and not here.
    if (document !== typed.of) setTyped({ text: pretty(document), of: document });
  }, [document]);
  const check = useCheck({ component: COMPONENT, text: typed.text });

  function type(text: string): void {
    const read = jsonOf(text);
    setTyped({ text, of: read ?? typed.of });
    if (read !== undefined) onChange(read);
  }

  return (
    <div class="stack">
      <p class="muted small">
        Ctrl and Space offer what may stand at the cursor. The form above and the trial below follow what is
        typed here. A secret is written behind a key that begins with #, and encrypted when it is saved.
      </p>
      <JsonEditor
        label="Configuration as JSON"
        hasSchema
        value={typed.text}
        onChange={type}
        remarks={check.problems}
        goTo={goTo}
      />
      <ProblemList check={check} onGo={({ line, column }) => setGoTo({ line, column })} />
    </div>
  );
}

/** Parses JSON; undefined for text that is not (yet) valid. */
function jsonOf(text: string): Json | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
