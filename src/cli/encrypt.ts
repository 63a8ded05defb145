import { systemEnv } from '../lib/env.ts';
import type { Keys, Scope } from '../lib/encryption/index.ts';
import { RunError } from '../lib/errors.ts';
import { flag, valued, type Args, type Command, type Io } from './command.ts';

export const encryptCommand: Command = {
  name: 'encrypt',
  describe: 'Encrypt the values of # keys, in a file or one alone; make and rotate keys',
  refusesWords:
    'A value is never an argument, since those stay in the history of the shell: give it on stdin or with --value-file.',
  options: {
    file: valued('FILE', 'A JSON file: encrypt every plain value of a # key in place'),
    'value-file': valued('FILE', 'Take one value from this file instead of from stdin'),
    decrypt: flag('Print the plain value, or the file with plain values'),
    rotate: flag('Encrypt with the first key what an older key encrypted'),
    'new-key': valued('FILE', 'Make a key file, or put a new key in front of those in it'),
    'key-file': valued('FILE', 'The keys to use, instead of those of the environment'),
    project: valued('ID', 'Bind to this project; 1 by default'),
    component: valued('ID', 'Bind to this component; ex-generic-v2 by default'),
    config: valued('ID', 'Bind to this configuration alone'),
  },
  examples: [
    ['gex encrypt --new-key gex.key', 'Make a key'],
    ['gex encrypt --key-file gex.key --file config.json', 'Encrypt the # values of a configuration'],
    ['gex encrypt --key-file gex.key < password.txt', 'Encrypt one value and print it'],
    ['gex encrypt --key-file gex.key --rotate --file config.json', 'Move a configuration to the newest key'],
  ],
  async run(args, io) {
    refuseMixed(args);
    const keyFile = args.text('new-key');
    if (keyFile !== undefined) return await newKey(keyFile, io);
    const { keysFrom, readKeyFile, scopeFrom } = await import('../lib/encryption/index.ts');
    const given = args.text('key-file');
    const keys = given === undefined ? keysFrom(process.env) : readKeyFile(given);
    const place = scopeFrom(process.env);
    const scope: Scope = {
      project: args.text('project') ?? place.project,
      component: args.text('component') ?? place.component,
      configuration: args.text('config') ?? place.configuration,
    };
    requireKey(keys);
    const file = args.text('file');
    return file === undefined
      ? await oneValue(args, io, keys, scope)
      : await wholeFile(file, args, io, keys, scope);
  },
};

async function newKey(file: string, io: Io): Promise<number> {
  const { makeKeyFile } = await import('../lib/encryption/index.ts');
  const { guard } = await import('../engine/sink/file-error.ts');
  const { EncryptionError } = await import('../lib/errors.ts');
  let refused: unknown;
  const key = guard(file, () => {
    try {
      return makeKeyFile(file, systemEnv);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      refused = error;
      return undefined;
    }
  });
  if (key === undefined) throw refused;
  io.print(key.id);
  io.note(`The new key is in ${file}. Keep a copy: without it what it encrypts cannot be read again.`);
  return 0;
}

async function oneValue(args: Args, io: Io, keys: Keys, scope: Scope): Promise<number> {
  const { readValue } = await import('./read-value.ts');
  const { decryptValue, encryptValue, kindOfSecret } = await import('../lib/encryption/index.ts');
  const { encodeExact } = await import('../lib/json/index.ts');
  const value = await readValue(args.text('value-file'), io);
  const isEncrypted = kindOfSecret(value.trim()) === 'encrypted';
  if (args.isSet('decrypt')) {
    const { value: plain } = decryptValue(value.trim(), scope, keys);
    io.print(typeof plain === 'string' ? plain : encodeExact(plain));
  } else if (args.isSet('rotate')) {
    const { value: plain, scope: bound } = decryptValue(value.trim(), scope, keys);
    io.print(encryptValue(plain, bound, keys, systemEnv));
  } else if (isEncrypted) {
    throw new RunError('command.invalid', 'The value is encrypted already.', {
      hint: 'Use it as it is, or add --rotate to encrypt it with the first key, or --decrypt to read it.',
    });
  } else io.print(encryptValue(value, scope, keys, systemEnv));
  return 0;
}

async function wholeFile(file: string, args: Args, io: Io, keys: Keys, scope: Scope): Promise<number> {
  const { encryptFile } = await import('./encrypt-file.ts');
  const done = args.isSet('decrypt') ? 'decrypt' : args.isSet('rotate') ? 'rotate' : 'encrypt';
  return await encryptFile(file, done, io, { keys, scope, env: systemEnv });
}

function requireKey(keys: Keys): void {
  if (keys.length > 0) return;
  throw new RunError('encryption.noKey', 'There is no key.', {
    hint: 'Make one with gex encrypt --new-key gex.key, and give it with --key-file gex.key or GEX_ENCRYPTION_KEY_FILE.',
  });
}

function refuseMixed(args: Args): void {
  for (const [first, second] of [
    ['decrypt', 'rotate'],
    ['file', 'value-file'],
    ['new-key', 'file'],
    ['new-key', 'value-file'],
    ['new-key', 'key-file'],
    ['new-key', 'decrypt'],
    ['new-key', 'rotate'],
  ] as const) {
    if (!isGiven(args, first) || !isGiven(args, second)) continue;
    throw new RunError('command.invalid', `--${first} and --${second} exclude each other.`, {
      hint: 'Leave one of them out. See gex encrypt --help.',
    });
  }
}

function isGiven(args: Args, name: string): boolean {
  return args.isSet(name) || args.text(name) !== undefined;
}
