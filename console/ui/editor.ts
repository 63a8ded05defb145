import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { jsonSchema } from 'codemirror-json-schema';
import { editorLook } from './editor-theme.ts';

/** Something to say about a part of the text, by its places in it. */
export interface EditorProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  /** Default: error. */
  readonly severity?: 'error' | 'info' | 'warning';
}

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly label: string;
  readonly text: string;
  /** A JSON schema: completion, descriptions and problems come of it. */
  readonly schema?: object | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

export interface Editor {
  readonly text: string;
  setText(text: string): void;
  setProblems(problems: readonly EditorProblem[]): void;
  destroy(): void;
}

/** An editor of JSON. Escape and then Tab leave it, as Tab alone writes one. */
export function createEditor({ parent, label, text, schema, isReadOnly, onChange }: EditorOptions): Editor {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        shared(label),
        history(),
        // The library's type of a schema is that of one draft; ours are read by it as they are.
        schema === undefined ? json() : jsonSchema(schema as Parameters<typeof jsonSchema>[0]),
        lintGutter(),
        indentOnInput(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab,
        ]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    setProblems(problems) {
      const { length } = view.state.doc;
      const inside = (at: number): number => Math.min(Math.max(at, 0), length);
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map(({ from, to, message, severity = 'error' }) => ({
            from: inside(from),
            to: inside(to),
            message,
            severity,
          })),
        ),
      );
    },
    destroy: () => view.destroy(),
  };
}

/** What was and what is, in one text: lines that went away above those that came. */
export function createDiff(parent: HTMLElement, label: string, before: string, after: string): () => void {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: after,
      extensions: [
        shared(label),
        json(),
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
      ],
    }),
  });
  return () => view.destroy();
}

function shared(label: string): Extension[] {
  return [
    editorLook(),
    lineNumbers(),
    foldGutter(),
    bracketMatching(),
    drawSelection(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}
