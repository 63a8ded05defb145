import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import type { Table } from '../../data/client.ts';
import { editorLook } from '../../ui/editor-look.ts';
import { completeTables, SQL_LANGUAGE } from './language.ts';

/** Mistake at a place of the query, from 1. */
export interface Mistake {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export interface SqlEditorProps {
  /** Text to edit; a new object puts its text in place of what was typed. */
  readonly given: { readonly text: string };
  readonly tables: readonly Table[];
  readonly mistake: Mistake | undefined;
  readonly onChange: (value: string) => void;
  readonly onRun: () => void;
}

/** Edits a query; Ctrl+Enter runs it. Tab leaves the editor, so that it is no trap for the keyboard. */
export function SqlEditor(props: SqlEditorProps) {
  const { given, mistake } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (place.current === null) return undefined;
    const run = (): boolean => {
      latest.current.onRun();
      return true;
    };
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: latest.current.given.text,
        extensions: [
          ...editorLook(SQL_LANGUAGE),
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          closeBrackets(),
          autocompletion({ override: [completeTables(() => latest.current.tables)], icons: false }),
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': 'Query in SQL', spellcheck: 'false' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === given.text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: given.text } });
  }, [given]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const { doc } = editor.state;
    const line = doc.line(Math.min(mistake?.line ?? 1, doc.lines));
    const from = Math.min(line.from + (mistake?.column ?? 1) - 1, line.to);
    const to = Math.min(from + 1, doc.length);
    const told = mistake && { from, to, severity: 'error' as const, message: mistake.message };
    editor.dispatch(setDiagnostics(editor.state, told === undefined ? [] : [told]));
  }, [mistake]);

  return <div ref={place} class="schema-editor sql-editor" />;
}
