import { useEffect, useState } from 'preact/hooks';
import { parseExact } from '../../../src/json/parse.ts';
import { entriesOf, isList, JsonNumber, type Json } from '../../../src/json/value.ts';
import { TextArea } from '../../ui/field.tsx';

export interface DocumentEditorProps {
  /** The configuration as text. */
  readonly text: string;
  readonly onChange: (document: Json) => void;
}

/** The whole configuration, for what the form has no field for. What is typed is taken as soon as it is JSON. */
export function DocumentEditor({ text, onChange }: DocumentEditorProps) {
  const [typed, setTyped] = useState({ value: text, problem: undefined as string | undefined, of: text });
  useEffect(() => {
    // Changed by the form, and not here.
    if (text !== typed.of) setTyped({ value: text, problem: undefined, of: text });
  }, [text]);
  return (
    <TextArea
      label="config.json"
      value={typed.value}
      rows={18}
      isMono
      hint="Secrets are encrypted: a new one is written behind its key as it is, and encrypted when it is saved."
      {...(typed.problem === undefined ? {} : { problem: typed.problem })}
      onInput={(value) => {
        const read = readDocument(value);
        if ('problem' in read) setTyped({ ...typed, value, problem: read.problem });
        else {
          setTyped({ value, problem: undefined, of: documentText(read.document) });
          onChange(read.document);
        }
      }}
    />
  );
}

/** As the editor shows it. */
export function documentText(document: Json): string {
  return pretty(document, '');
}

/** Literals and the order of keys are kept. */
function pretty(value: Json, indent: string): string {
  if (value instanceof JsonNumber) return value.literal;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, items, close] = isList(value)
    ? ['[', value.map((item) => pretty(item, inner)), ']']
    : ['{', entriesOf(value).map(([key, item]) => `${JSON.stringify(key)}: ${pretty(item, inner)}`), '}'];
  return items.length === 0
    ? open + close
    : `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`;
}

function readDocument(text: string): { readonly document: Json } | { readonly problem: string } {
  try {
    return { document: parseExact(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
