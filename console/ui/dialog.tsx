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

/** Shows a dialog while it is rendered. The browser keeps the focus inside; afterwards it returns to its place. */
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

export interface FormDialogProps extends Omit<DialogProps, 'form' | 'onClose'> {
  /** The verb on its button: `Create the source`. */
  readonly action: string;
  readonly kind?: 'danger' | 'primary';
  /** True when all is there that it needs. */
  readonly isReady?: boolean;
  readonly isBusy?: boolean | undefined;
  readonly error?: unknown;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

/** Shows a dialog with a few fields and an action. */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, children, action, kind = 'primary', isReady = true, isBusy = false, error } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isBusy) props.onSubmit();
        }}
      >
        {children}
        {error !== undefined && <ErrorBanner error={error} />}
        <div class="row">
          <Button kind={kind} type="submit" isDisabled={!isReady} isBusy={isBusy}>
            {action}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

export interface ConfirmProps extends Pick<
  FormDialogProps,
  'action' | 'error' | 'isBusy' | 'onClose' | 'title'
> {
  /** Explanation of the consequences, and of what cannot be undone. */
  readonly children: ComponentChildren;
  /** Text that has to be typed to confirm, if much is lost. */
  readonly typed?: string | undefined;
  readonly onConfirm: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ children, typed, onConfirm, ...rest }: ConfirmProps) {
  const [text, setText] = useState('');
  return (
    <FormDialog {...rest} kind="danger" isReady={typed === undefined || text === typed} onSubmit={onConfirm}>
      <div>{children}</div>
      {typed !== undefined && (
        <Input label={`Type ${typed} to go on`} value={text} onInput={setText} isMono hasFocus />
      )}
    </FormDialog>
  );
}
