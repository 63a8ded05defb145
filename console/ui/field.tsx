import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';
import './field.css';

interface Common {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Problem with the value. */
  readonly problem?: string | undefined;
}

export interface InputProps extends Common {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'date' | 'datetime-local' | 'password' | 'text';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  readonly hasFocus?: boolean;
  readonly isMono?: boolean;
}

export function Input(props: InputProps) {
  const { label, hint, problem, value, onInput, type = 'text', placeholder, isRequired, isDisabled } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, problem }}>
      <input
        id={id}
        class={props.isMono === true ? 'input mono' : 'input'}
        {...(type === 'text' ? {} : { type })}
        value={value}
        placeholder={placeholder}
        required={isRequired}
        disabled={isDisabled}
        autoFocus={props.hasFocus}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem === undefined ? undefined : true}
        aria-describedby={describedBy(id, hint, problem)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

export interface TextAreaProps extends Common {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly isMono?: boolean;
}

export function TextArea({
  label,
  hint,
  problem,
  value,
  onInput,
  rows = 4,
  placeholder,
  isMono,
}: TextAreaProps) {
  const id = useId();
  return (
    <Field {...{ id, label, hint, problem }}>
      <textarea
        id={id}
        class={isMono === true ? 'input mono' : 'input'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        aria-invalid={problem === undefined ? undefined : true}
        aria-describedby={describedBy(id, hint, problem)}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

export interface SelectProps<T extends string> extends Common {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly isDisabled?: boolean;
  /** The label is for those who do not see it. */
  readonly isLabelHidden?: boolean;
}

export function Select<T extends string>(props: SelectProps<T>) {
  const { label, hint, problem, value, onChange, options, isDisabled, isLabelHidden } = props;
  const id = useId();
  return (
    <Field {...{ id, label, hint, problem, isLabelHidden }}>
      <select
        id={id}
        class="input"
        value={value}
        disabled={isDisabled}
        aria-describedby={describedBy(id, hint, problem)}
        // One of the options.
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </Field>
  );
}

export interface CheckboxProps {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly isDisabled?: boolean;
  /** Something that is on or off at once, and not a choice in a form. */
  readonly isSwitch?: boolean;
}

export function Checkbox({ label, isChecked, onChange, isDisabled, isSwitch }: CheckboxProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        role={isSwitch === true ? 'switch' : undefined}
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

/** Shows the field that the key `/` focuses. */
export function SearchField({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <div class="search">
      <Icon name="search" size={16} />
      <input
        class="input"
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={value}
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

function Field({
  id,
  label,
  hint,
  problem,
  isLabelHidden,
  children,
}: Common & {
  readonly id: string;
  readonly isLabelHidden?: boolean | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label class={isLabelHidden === true ? 'visually-hidden' : 'field-label'} for={id}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <span class="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem !== undefined && (
        <span class="field-problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}

function describedBy(id: string, hint: unknown, problem: unknown): string | undefined {
  const ids = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  return ids.filter((each) => each !== '').join(' ') || undefined;
}
