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
      const verbs = nouns.map(({ names, verbs: of }) => ({ names, words: of.map(({ name }) => name).join(" ") }));
      if (shell === "bash" || shell === "zsh") {
        const cases = verbs
          .map(({ names, words }) => `    ${names.join("|")}) COMPREPLY=($(compgen -W "${words}" -- "$cur"));;`)
          .join("\n");
        const zsh = shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
        await session.print(
          `${zsh}_harrier() {\n  local cur="\${COMP_WORDS[COMP_CWORD]}"\n  COMPREPLY=()\n  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${first}" -- "$cur"))\n  elif [ "$COMP_CWORD" -eq 2 ]; then case "\${COMP_WORDS[1]}" in\n${cases}\n  esac; fi\n}\ncomplete -o default -F _harrier harrier\n`,
        );
      } else if (shell === "fish") {
        const lines = verbs.map(
          ({ names, words }) => `complete -c harrier -n '__fish_seen_subcommand_from ${names.join(" ")}' -a '${words}'`,
        );
        await session.print(`complete -c harrier -n __fish_use_subcommand -a '${first}'\n${lines.join("\n")}\n`);
      } else throw usage("bash, zsh or fish");
    },
  };
}
