import { Text } from '../values.tsx';

/** Shows a sentence with names between backticks. */
export function Ticked({ children }: { readonly children: string }) {
  return (
    <>
      {children.split('`').map((part, i) =>
        i % 2 === 0 ? (
          <Text key={i}>{part}</Text>
        ) : (
          <code key={i}>
            <Text>{part}</Text>
          </code>
        ),
      )}
    </>
  );
}
