import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { editorLook } from './editor-look.ts';
import './schema-editor.css';

/** Narrower than that, two texts have no room beside each other. */
const NARROW = 760;

/** Shows two texts side by side, or one above the other, with their differences. */
export function TextDiff({
  before,
  after,
  labels,
}: {
  readonly before: string;
  readonly after: string;
  /** Descriptions of the two texts for screen readers. */
  readonly labels: readonly [before: string, after: string];
}) {
  const place = useRef<HTMLDivElement>(null);
  const [left, right] = labels;
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return undefined;
    const common = (label: string) => [
      ...editorLook(),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ];
    const collapseUnchanged = { margin: 3, minSize: 6 };
    if (parent.clientWidth < NARROW) {
      const unified = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged });
      const view = new EditorView({
        parent,
        doc: after,
        extensions: [...common(`${left}, ${right}`), unified],
      });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent,
      a: { doc: before, extensions: common(left) },
      b: { doc: after, extensions: common(right) },
      collapseUnchanged,
    });
    return () => view.destroy();
  }, [before, after, left, right]);
  return <div ref={place} class="text-diff" />;
}
