import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.tsx';
import { Input } from './field.tsx';
import { ErrorBanner } from './states.tsx';
import './dialog.css';

export interface DialogProps {
  readonly title: string;
  /** Undefined where there is no way around it. */
  readonly onClose?: (() => void) | undefined;
  readonly children: ComponentChildren;
  /** `side`: beside what it is about, over the whole height. */
  readonly form?: 'middle' | 'side' | 'wide';
}

/** Shown while it is rendered. The browser keeps the focus inside; afterwards it is where it was before. */
export function Dialog({ title, onClose, children, form = 'middle' }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // The browser would do so itself, but not from a dialog that is out of the page already.
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog${form === 'middle' ? '' : ` dialog-${form}`}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose?.();
      }}
    >
      <div class="dialog-body">
        <div class="spread">
          <h2 id={id}>{title}</h2>
          {onClose && <IconButton icon="close" label="Close" onPress={onClose} />}
        </div>
        {children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  /** What will be so afterwards, and what cannot be taken back. */
  readonly children: ComponentChildren;
  /** The verb: `Delete the table`. */
  readonly action: string;
  /** Where much is lost: it has to be typed. */
  readonly typed?: string | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly isBusy?: boolean;
  readonly error?: unknown;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, children, action, typed, onConfirm, onClose, isBusy, error }: ConfirmProps) {
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && isBusy !== true) onConfirm();
        }}
      >
        <div>{children}</div>
        {typed !== undefined && (
          <Input label={`Type ${typed} to go on`} value={text} onInput={setText} isMono hasFocus />
        )}
        {error !== undefined && <ErrorBanner error={error} />}
        <div class="row">
          <Button kind="danger" type="submit" isDisabled={!isReady} isBusy={isBusy === true}>
            {action}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
