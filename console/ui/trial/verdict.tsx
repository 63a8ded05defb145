import type { ComponentChildren } from 'preact';
import { Badge, type Tone } from '../states.tsx';

const WORDS: Readonly<Record<string, readonly [tone: Tone, word: string, about: string]>> = {
  complete: ['good', 'complete', 'The answers say that these are all rows.'],
  ended: ['good', 'ended', 'The end was reached, and nothing speaks against it.'],
  cut: ['warn', 'not to the end', 'Right as far as it was tried; the end was not seen.'],
  doubtful: ['bad', 'doubtful', 'Something speaks against it.'],
  failed: ['bad', 'failed', 'No list came.'],
};

/** Shows a verdict in a word. */
export function VerdictBadge({ verdict }: { readonly verdict: string }) {
  const [tone, word] = WORDS[verdict] ?? ['neutral', verdict];
  return <Badge tone={tone}>{word}</Badge>;
}

/** Tells whether it has everything, in a word and a sentence. */
export function Verdict({
  verdict,
  children,
}: {
  readonly verdict: string;
  readonly children?: ComponentChildren;
}) {
  const [, , about] = WORDS[verdict] ?? ['neutral', verdict, ''];
  return (
    <p class="row">
      <VerdictBadge verdict={verdict} />
      <span>{about}</span>
      {children !== undefined && <span class="muted">{children}</span>}
    </p>
  );
}
