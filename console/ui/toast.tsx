import { createStore, useStore } from '../data/store.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import './toast.css';

interface Message {
  readonly id: number;
  readonly text: string;
  readonly kind: 'bad' | 'good';
}

const messages = createStore<readonly Message[]>([]);
let last = 0;
const SHOWN_MS = 5000;

/** Says in passing that something is done; what failed is said where it was asked for, and stays. */
export function toast(text: string, kind: Message['kind'] = 'good'): void {
  last += 1;
  const id = last;
  messages.set([...messages.get(), { id, text, kind }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}

export function Toasts() {
  const all = useStore(messages);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {all.map(({ id, text, kind }) => (
        <div key={id} class="toast">
          <Icon name={kind === 'good' ? 'check' : 'alert'} />
          <span>{text}</span>
          <IconButton icon="close" label="Close" onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
