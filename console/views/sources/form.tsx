import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isList, isObject, JsonNumber, getKey, type Json } from '../../../src/lib/json/value.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox, Input, Select } from '../../ui/field.tsx';
import { Badge, Banner } from '../../ui/states.tsx';
import { kindOfSecret, valueAt, withValue, type Way } from './document.ts';
import type { Draft } from './draft.ts';
import { LOGINS, PAGINATIONS, type FieldOf } from './common-settings.ts';

const API = ['parameters', 'api'] as const;
const LOGIN = [...API, 'authentication'] as const;
const PAGES = [...API, 'pagination'] as const;
const CONFIG = ['parameters', 'config'] as const;
const JOBS = [...CONFIG, 'jobs'] as const;

interface Editing {
  readonly document: Json;
  readonly set: (way: Way, value: Json | undefined) => void;
}

/** Shows the settings that most configurations have, as fields. Everything else of the document stays as it is. */
export function CommonForm({ draft, isRow }: { readonly draft: Draft; readonly isRow: boolean }) {
  const { value } = draft;
  if (value === undefined)
    return (
      <Banner kind="warn">The JSON cannot be read right now: mend it there, and the fields are back.</Banner>
    );
  const editing: Editing = {
    document: value,
    set: (way, next) => draft.setValue(withValue(value, way, next)),
  };
  const hasApi = !isRow || valueAt(value, API) !== undefined;
  return (
    <div class="source-form">
      {isRow && !hasApi && (
        <p class="muted small">
          Address, login and pagination are those of the source, unless the JSON of this row sets its own.
        </p>
      )}
      {hasApi && (
        <Section title="API">
          <TextAt
            {...editing}
            way={[...API, 'baseUrl']}
            label="Base address"
            hint="What endpoints are relative to."
            placeholder="https://api.example.com/v1/"
            isWide
          />
        </Section>
      )}
      {hasApi && (
        <Section title="Login">
          <LoginFields {...editing} />
        </Section>
      )}
      {hasApi && (
        <Section title="Pagination">
          <PaginationFields {...editing} />
        </Section>
      )}
      <Section title="Output">
        <TextAt
          {...editing}
          way={[...CONFIG, 'outputBucket']}
          label="Bucket"
          hint="Where the tables go; made up when left out."
          placeholder="shop"
        />
        <YesAt
          {...editing}
          way={[...CONFIG, 'incrementalOutput']}
          label="Keep earlier rows: load incrementally"
        />
      </Section>
      <Section title="Jobs">
        <Jobs {...editing} />
      </Section>
    </div>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card source-section" aria-label={title}>
      <h2>{title}</h2>
      <div class="source-fields">{children}</div>
    </section>
  );
}

function LoginFields(editing: Editing) {
  const { document, set } = editing;
  const type = valueAt(document, [...LOGIN, 'type']);
  const name = typeof type === 'string' ? type : '';
  const known = LOGINS.find((each) => each.type === name);
  return (
    <>
      <Select
        label="Kind of login"
        value={name}
        options={[
          ...LOGINS.map((each) => ({ value: each.type, text: each.text })),
          ...(known === undefined ? [{ value: name, text: `${name}, set in the JSON` }] : []),
        ]}
        onChange={(next) => set(LOGIN, next === '' ? undefined : { type: next })}
      />
      {known?.fields.map((field) => (
        <FieldAt key={`${name} ${field.label}`} {...editing} field={field} />
      ))}
      {known === undefined && <p class="muted small">The fields of this kind are in the JSON.</p>}
    </>
  );
}

function PaginationFields(editing: Editing) {
  const { document, set } = editing;
  const method = valueAt(document, [...PAGES, 'method']);
  const name = typeof method === 'string' && method !== 'none' ? method : '';
  const known = PAGINATIONS.find((each) => each.method === name);
  return (
    <>
      <Select
        label="How pages follow"
        value={name}
        options={[
          ...PAGINATIONS.map((each) => ({ value: each.method, text: each.text })),
          ...(known === undefined ? [{ value: name, text: `${name}, set in the JSON` }] : []),
        ]}
        onChange={(next) => set(PAGES, next === '' ? undefined : { method: next })}
      />
      {known?.fields.map((field) => (
        <FieldAt key={`${name} ${field.label}`} {...editing} field={field} />
      ))}
    </>
  );
}

function FieldAt({ field, ...editing }: Editing & { readonly field: FieldOf }) {
  const { way, label, hint, placeholder, choices } = field;
  if (field.isSecret === true) return <SecretAt {...editing} way={way} label={label} />;
  if (choices !== undefined) {
    const value = valueAt(editing.document, way);
    return (
      <Select
        label={label}
        value={typeof value === 'string' ? value : (choices[0]?.value ?? '')}
        options={choices}
        onChange={(next) => editing.set(way, next)}
      />
    );
  }
  return (
    <TextAt
      {...editing}
      way={way}
      label={label}
      {...(hint === undefined ? {} : { hint })}
      placeholder={placeholder ?? ''}
      isNumber={field.isNumber === true}
    />
  );
}

function TextAt({
  document,
  set,
  way,
  label,
  hint,
  placeholder = '',
  isNumber: wantsNumber = false,
  isWide = false,
}: Editing & {
  readonly way: Way;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly isNumber?: boolean;
  readonly isWide?: boolean;
}) {
  const value = valueAt(document, way);
  if (isObject(value) || isList(value)) return <Elsewhere label={label} />;
  return (
    <div class={isWide ? 'source-wide' : undefined}>
      <Input
        label={label}
        hint={hint}
        placeholder={placeholder}
        value={shown(value)}
        isMono
        onInput={(text) =>
          set(way, text === '' ? undefined : wantsNumber && /^\d{1,15}$/.test(text) ? Number(text) : text)
        }
      />
    </div>
  );
}

function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (value instanceof JsonNumber) return value.literal;
  return typeof value === 'object' ? '' : String(value);
}

function YesAt({ document, set, way, label }: Editing & { readonly way: Way; readonly label: string }) {
  const value = valueAt(document, way);
  if (isObject(value) || isList(value)) return <Elsewhere label={label} />;
  return (
    <div class="source-yes">
      <Checkbox
        label={label}
        isChecked={value === true || value === 1}
        onChange={(next) => set(way, next ? true : undefined)}
      />
    </div>
  );
}

/** Shows that a setting is more complex than a field, and is kept. */
function Elsewhere({ label }: { readonly label: string }) {
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <span class="source-chip">set in the JSON</span>
    </div>
  );
}

/** Edits a value that is never shown, and can be replaced. */
function SecretAt({ document, set, way, label }: Editing & { readonly way: Way; readonly label: string }) {
  const value = valueAt(document, way);
  const kind = kindOfSecret(value);
  // Put back when what was typed over it is taken away again.
  const [replaced, setReplaced] = useState<Json | undefined>();
  if (isObject(value) || isList(value)) return <Elsewhere label={label} />;
  if (kind === 'encrypted' && replaced === undefined)
    return (
      <div class="field" role="group" aria-label={label}>
        <span class="field-label">{label}</span>
        <div class="row">
          <Badge tone="good">encrypted, set</Badge>
          <Button onPress={() => setReplaced(value)}>Replace</Button>
          <Button kind="plain" onPress={() => set(way, undefined)}>
            Remove
          </Button>
        </div>
      </div>
    );
  const isVariable = kind === 'variable';
  return (
    <Input
      label={label}
      type={isVariable ? 'text' : 'password'}
      value={kind === 'plain' || isVariable ? shown(value) : ''}
      hint={
        isVariable
          ? 'Comes from the environment of the run.'
          : kind === 'encrypted'
            ? 'Type the new value; until then the old one stays.'
            : 'Encrypted when it is saved, and never shown again.'
      }
      isMono
      onInput={(text) => set(way, text === '' ? replaced : text)}
    />
  );
}

/** More fields at once would be slow, and nobody finds one among them. */
const SHOWN_JOBS = 50;

function Jobs(editing: Editing) {
  const { document, set } = editing;
  const jobs = valueAt(document, JOBS);
  if (isObject(jobs)) return <Elsewhere label="Jobs by name" />;
  const list = isList(jobs) ? jobs : [];
  return (
    <div class="source-wide stack">
      {list.length === 0 && (
        <p class="muted small">
          No job here yet. A job asks an endpoint, and writes a table of what it answers.
        </p>
      )}
      {list.slice(0, SHOWN_JOBS).map((job, index) => (
        <fieldset key={index} class="source-job">
          <legend class="visually-hidden">Job {index + 1}</legend>
          <TextAt {...editing} way={[...JOBS, index, 'endpoint']} label="Endpoint" placeholder="users" />
          <TextAt
            {...editing}
            way={[...JOBS, index, 'dataField']}
            label="Data field"
            placeholder="the only list"
          />
          <TextAt
            {...editing}
            way={[...JOBS, index, 'dataType']}
            label="Data type"
            placeholder={tableOf(job)}
          />
          <IconButton
            icon="trash"
            label={`Remove job ${index + 1}`}
            onPress={() => set([...JOBS, index], undefined)}
          />
        </fieldset>
      ))}
      <div>
        {list.length > SHOWN_JOBS && (
          <p class="muted small">The other {list.length - SHOWN_JOBS} are in the JSON.</p>
        )}
        <Button
          icon="plus"
          isDisabled={list.length >= SHOWN_JOBS}
          onPress={() => set([...JOBS, list.length], { endpoint: '' })}
        >
          Add a job
        </Button>
      </div>
    </div>
  );
}

function tableOf(job: Json): string {
  const endpoint = isObject(job) ? getKey(job, 'endpoint') : undefined;
  return typeof endpoint === 'string' && endpoint !== '' ? endpoint : 'as the endpoint';
}
