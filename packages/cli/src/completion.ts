import type { Noun, Verb } from "./command.ts";
import { usage } from "./exit.ts";

interface Tree {
  readonly nouns: readonly Noun[];
  readonly singles: readonly Verb[];
}

/** Makes the verb that prints a script for a shell: the nouns, and behind each its verbs. */
export function completionVerb(tree: () => Tree): Verb {
  return {
    name: "completion",
    summary: "Print the completion of a shell: source <(harrier completion bash)",
    args: "<shell>",
    async run(session, [shell = ""]) {
      const { nouns, singles } = tree();
      const first = [...nouns.flatMap(({ names }) => names.slice(0, 1)), ...singles.map(({ name }) => name), "version", "completion"].join(
        " ",
      );
      const verbs = nouns.map(({ names, verbs: of }) => ({
        // with a verb behind it `dev` is a device
        names: names.includes("device") ? [...names, "dev"] : names,
        words: of.map(({ name }) => name).join(" "),
      }));
      if (shell === "bash" || shell === "zsh") {
        const cases = verbs
          .map(({ names, words }) => `    ${names.join("|")}) COMPREPLY=($(compgen -W "${words}" -- "$cur"));;`)
          .join("\n");
        const zsh = shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
        await session.print(`${zsh}${bashOf(first, cases)}`);
      } else if (shell === "fish") {
        const lines = verbs.map(
          ({ names, words }) => `complete -c harrier -n '__fish_seen_subcommand_from ${names.join(" ")}' -a '${words}'`,
        );
        await session.print(`complete -c harrier -n __fish_use_subcommand -a '${first}'\n${lines.join("\n")}\n${fishNames}`);
      } else throw usage("bash, zsh or fish");
    },
  };
}

/**
 * Behind a verb the names come from the server (`harrier __complete LINE`). The shell splits words at colons, so of `name:version` only what is behind the
 * last colon is put in; names with spaces are quoted.
 */
function bashOf(first: string, cases: string): string {
  return `_harrier() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" line name word
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${first}" -- "$cur"))
  elif [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in
${cases}
  esac
  else
    line="\${COMP_LINE:0:\${COMP_POINT:-0}}"
    word="\${line##* }"
    while IFS= read -r name; do
      [[ "$word" == *:* && "$COMP_WORDBREAKS" == *:* ]] && name="\${name#"\${word%"\${word##*:}"}"}"
      COMPREPLY+=("$(printf %q "$name")")
    done < <(harrier __complete "$line" </dev/null 2>/dev/null)
  fi
}
complete -o default -F _harrier harrier
`;
}

const fishNames =
  "complete -c harrier -f -n 'test (count (commandline -opc)) -ge 3' -a '(harrier __complete (commandline -cp | string collect) </dev/null 2>/dev/null)'\n";
