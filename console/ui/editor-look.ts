import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { json } from '@codemirror/lang-json';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: 'var(--text-s)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--surface-2)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-s)',
  },
  '.cm-tooltip.cm-completionInfo': { maxWidth: '24rem', padding: 'var(--s3)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-described': { maxWidth: '28rem', padding: 'var(--s3)', fontFamily: 'var(--font)' },
  // The sign of the package is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"···"' },
  '.cm-collapsedLines': { background: 'var(--surface-2)', color: 'var(--muted)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
  },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.keyword], color: 'var(--accent-strong)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--muted)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
]);

/**
 * Returns the look that editors and differences share: the colours of the console, and the style that its policy
 * admits.
 *
 * @param language JSON by default
 */
export function editorLook(language: Extension = json()): Extension[] {
  const nonce = document.querySelector('meta[name="gex-nonce"]')?.getAttribute('content') ?? '';
  return [
    EditorView.cspNonce.of(nonce),
    LOOK,
    syntaxHighlighting(COLOURS),
    EditorView.lineWrapping,
    language,
  ];
}
