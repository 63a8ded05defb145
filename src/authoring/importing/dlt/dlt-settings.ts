import type { SettingReport } from '../report.ts';
import { Setting, type TranslatedValue } from './value.ts';

/** The key of `parameters.config` that holds the settings: beside its own keys they could mean something else. */
const FOLDER = 'settings';

/** The settings that a source asks for: secrets, and what its function is given. */
export class SourceSettings {
  readonly #used = new Map<string, Setting>();
  readonly #given: Readonly<Record<string, unknown>>;

  /** @param given values by their names, where there are some already */
  constructor(given: Readonly<Record<string, unknown>> = {}) {
    this.#given = given;
  }

  /** Returns the reference to a setting. */
  reference(setting: Setting): TranslatedValue {
    const known = this.#used.get(setting.name);
    if (known === undefined || (setting.isSecret && !known.isSecret)) this.#used.set(setting.name, setting);
    return { attr: `${FOLDER}.${this.#keyOf(setting.name)}` };
  }

  /** Returns a secret that is written in the source, or that the source leaves to its own configuration. */
  secret(value: TranslatedValue | undefined, name: string): TranslatedValue {
    return value ?? this.reference(new Setting(name, true));
  }

  /** Returns the part of `parameters.config` with the settings. */
  entries(): Readonly<Record<string, TranslatedValue>> {
    if (this.#used.size === 0) return {};
    const values = [...this.#used.values()].map(
      (setting) => [this.#keyOf(setting.name), this.#valueOf(setting)] as const,
    );
    return { [FOLDER]: Object.fromEntries(values) };
  }

  /** Returns the settings without a value. */
  open(): readonly SettingReport[] {
    return [...this.#used.values()]
      .filter(({ name }) => this.#given[name] === undefined)
      .map(({ name, variable, isSecret }) => ({
        key: `${FOLDER}.${this.#keyOf(name)}`,
        title: isSecret
          ? `the secret “${name}”${variable === undefined ? '' : ` (${variable})`}`
          : `“${name}”`,
        isRequired: true,
      }));
  }

  #keyOf(name: string): string {
    return this.#used.get(name)?.isSecret === true ? `#${name}` : name;
  }

  #valueOf({ name, isSecret, variable }: Setting): TranslatedValue {
    const given = this.#given[name];
    if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean') return given;
    return isSecret ? `$env:${variable ?? name.toUpperCase().replaceAll(/\W+/g, '_')}` : '';
  }
}
