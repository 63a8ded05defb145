import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxTree } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { editorLook } from './editor-look.ts';
import './schema-editor.css';
import { completeBySchema, describeBySchema } from './json-schema.ts';

/** Something to say about a place of the text. */
export interface Remark {
  readonly severity: 'error' | 'warning';
  /** From 1; without it, it is about all of the text. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
}

export interface SchemaEditorProps {
  /** Description of the content for screen readers. */
  readonly label: string;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly isReadOnly?: boolean;
  readonly remarks?: readonly Remark[];
  /** JSON Schema that completes and describes keys. */
  readonly schema?: object | undefined;
  /** A new object leads to its place. */
  readonly goTo?: { readonly line?: number | undefined; readonly column?: number | undefined } | undefined;
}

/** Edits JSON. Tab leaves the editor after Escape, so that it is no trap for the keyboard. */
export function SchemaEditor(props: SchemaEditorProps) {
  const { label, value, isReadOnly = false, remarks = NONE, schema, goTo } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  // Texts that were told and have not come back yet: typing is faster than the page.
  const told = useRef<string[]>([]);

  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          ...editorLook(),
          ...(isReadOnly ? [EditorState.readOnly.of(true)] : editing(schema)),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const text = update.state.doc.toString();
            if (text === latest.current.value) return;
            told.current.push(text);
            latest.current.onChange?.(text);
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [isReadOnly, schema, label]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const back = told.current.indexOf(value);
    told.current = back < 0 ? [] : told.current.slice(back + 1);
    if (back >= 0 || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        remarks.map((remark) => diagnosticOf(editor.state, remark)),
      ),
    );
  }, [remarks, schema]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || goTo === undefined) return;
    const at = offsetOf(editor.state, goTo);
    editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    editor.focus();
  }, [goTo]);

  return <div ref={place} class="schema-editor" />;
}

const NONE: readonly Remark[] = [];

function editing(schema: object | undefined): Extension[] {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    ...(schema === undefined
      ? []
      : [
          autocompletion({ override: [completeBySchema(schema)], icons: false }),
          hoverTooltip((editor, at) => describeBySchema(schema, editor.state, at)),
        ]),
    keymap.of([
      ...completionKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      indentWithTab,
      ...defaultKeymap,
    ]),
  ];
}

function offsetOf(
  { doc }: EditorState,
  { line = 1, column = 1 }: { readonly line?: number | undefined; readonly column?: number | undefined },
): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + Math.max(column, 1) - 1, found.to);
}

function diagnosticOf(state: EditorState, remark: Remark): Diagnostic {
  const from = offsetOf(state, remark);
  const node = syntaxTree(state).resolveInner(from, 1);
  // Only the beginning of an object or a list is underlined: all of it would say nothing.
  const end = /^(?:Object|Array|JsonText)$/.test(node.name) ? from + 1 : node.to;
  return {
    from,
    to: Math.min(Math.max(end, from), state.doc.length),
    severity: remark.severity,
    message: remark.message,
  };
}
