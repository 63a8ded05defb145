import { valued, type Command, type CommandEntry } from './command.ts';
import { descend, isCommand } from './parse.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Creates the command that completes the others; it takes them as a function, because all commands are listed in one
 * place, which also lists this one.
 */
export function completionCommand(entries: () => readonly CommandEntry[]): Command {
  return {
    name: 'completion',
    describe: 'Print a script that completes commands and options in your shell',
    options: {
      shell: valued('SHELL', 'The shell that the script is for: bash, zsh or fish', {
        default: 'bash',
        choices: [...SHELLS],
      }),
      line: valued(
        'TEXT',
        'List what may stand where this command line ends, one a line: what the script calls',
      ),
    },
    examples: [
      [
        'gex completion',
        'The script for bash; “source <(gex completion)” uses it until the terminal is closed',
      ],
      ['gex completion --shell zsh', 'For zsh, where “source <(…)” uses it as well'],
      ['gex completion --shell fish | source', 'In fish'],
    ],
    async run(args, io) {
      const line = args.text('line');
      if (line === undefined) io.print(SCRIPTS[args.text('shell') ?? 'bash'] ?? '');
      else {
        const found = await candidates(entries(), line);
        if (found.length > 0) io.print(found.join('\n'));
      }
      return 0;
    },
  };
}

/** Returns the words that can complete a line; the name of the program is its first word. */
async function candidates(entries: readonly CommandEntry[], line: string): Promise<readonly string[]> {
  const words = line.trimStart().split(/\s+/);
  const last = words.at(-1) ?? '';
  const place = await descend({ script: 'gex', describe: '', entries, argv: words.slice(1, -1) });
  return possible(place.entries, place.argv).filter((each) => each.startsWith(last));
}

function possible(entries: readonly CommandEntry[], argv: readonly string[]): readonly string[] {
  const [name] = argv;
  if (name === undefined) return [...entries.map((entry) => entry.name), '--help'];
  const command = entries.filter(isCommand).find((entry) => entry.name === name);
  if (command === undefined) return [];
  const before = argv.length > 1 ? argv.at(-1) : undefined;
  const option = before?.startsWith('--') === true ? command.options[before.slice(2)] : undefined;
  if (option !== undefined && option.type !== 'boolean') return option.choices ?? [];
  const given = new Set(argv);
  const left = Object.entries(command.options)
    .map(([key, { type }]) => ({ flag: `--${key}`, isList: type === 'list' }))
    .filter(({ flag, isList }) => isList || !given.has(flag));
  return [...left.map(({ flag }) => flag), '--help'];
}

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_gex() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion --line "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
}
complete -o default -F _gex gex generic-extractor`,
  zsh: `_gex() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion --line "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  [[ -n "\${found[1]}" ]] && compadd -a found || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _gex gex generic-extractor`,
  fish: `function __gex
  set -l words (commandline -opc) (commandline -ct)
  $words[1] completion --line "$words" 2>/dev/null
end
complete -c gex -a '(__gex)'
complete -c generic-extractor -a '(__gex)'`,
};
