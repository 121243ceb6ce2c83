import { Command, CommanderError } from "commander";
import type { Noun, OptionRow, Options, Verb } from "./command.ts";
import { completionVerb } from "./completion.ts";
import { describeError, type ExitCode, exit, exitCodeOf } from "./exit.ts";
import { dev, open, simulate } from "./local.ts";
import { noun } from "./nouns/entity.ts";
import { nouns } from "./nouns/index.ts";
import { harmless, onWriteError, put, redraws } from "./output/terminal.ts";
import { type GlobalOptions, Session, Shown } from "./session.ts";
import { inFull } from "./short-forms.ts";
import { contextVerbs, topVerbs } from "./top.ts";

export const allNouns: readonly Noun[] = [...nouns, noun(["context", "contexts"], "Servers and how to sign in to them", contextVerbs)];
const plain: readonly Verb[] = [...topVerbs, open, simulate, dev];
const singles: readonly Verb[] = [...plain, completionVerb(() => ({ nouns: allNouns, singles: plain }))];

/** Runs a command line and sets the exit code. */
export async function main(given: readonly string[]): Promise<void> {
  const args = inFull(given);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  let output = "table";
  let finishes = false;
  // a reader that has enough (`| head`) ends what only reads, and is no error; what changes something, or waits, is never left in the middle
  onWriteError(({ code }) => {
    if (code !== "EPIPE" || !finishes) process.exit(code === "EPIPE" ? exit.done : exit.failed);
  });
  if (args[0] === "__complete") return printCompletion(args[1] ?? "");
  try {
    const program = programOf(
      (session, verb) => {
        output = session.options.output;
        finishes = verb.writes === true || verb.destructive === true || verb.finishes === true;
      },
      interrupted.signal,
      args,
    );
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (error instanceof Shown) return;
    end(
      error instanceof CommanderError
        ? error.exitCode === 0
          ? exit.done
          : exit.usage
        : interrupted.signal.aborted
          ? exit.interrupted
          : tell(error, output),
    );
  }
}

/** What a shell asks for while somebody types; it must never disturb the line, so an error says nothing. */
async function printCompletion(line: string): Promise<void> {
  const { complete, completionMs } = await import("./complete.ts");
  const signal = AbortSignal.timeout(completionMs);
  const begin = (options: object) => new Session({ output: "table", ...options }, signal);
  const names = await complete({ nouns: allNouns, optionsOf, begin }, line).catch(() => []);
  // a shell writes them into the line that is being typed, so a name that would steer the terminal, or is two lines, is none
  const typeable = names.filter((name) => harmless(name) === name && !name.includes("\n"));
  await put(typeable.map((name) => `${name}\n`).join(""));
  process.exit(exit.done);
}

function end(code: ExitCode): void {
  process.exitCode = code;
}

function tell(error: unknown, output: string): ExitCode {
  const [line, body] = describeError(error);
  if (output === "json" && body !== undefined) process.stderr.write(`${harmless(JSON.stringify(body))}\n`);
  else if (line !== "") process.stderr.write(`error: ${harmless(line)}\n`);
  return exitCodeOf(error);
}

/** Builds the commands: the verbs of the noun that was typed, and of the others the names, because building all takes longer than most commands. */
function programOf(begun: (session: Session, verb: Verb) => void, signal: AbortSignal, args: readonly string[]): Command {
  const program = new Command("harrier").description("The command line of Harrier, the update service for device fleets");
  program.exitOverride().showHelpAfterError("(harrier --help)");
  const typed = args.find((arg) => !arg.startsWith("-"));
  for (const verb of singles) addVerb(program, verb, begun, signal);
  for (const { names, summary, verbs } of allNouns) {
    const [name = "", ...aliases] = names;
    const of = program.command(name).description(summary).aliases(aliases).exitOverride();
    if (typed !== undefined && names.includes(typed)) for (const verb of verbs) addVerb(of, verb, begun, signal);
  }
  program.command("version").description("Say which version this is");
  return program;
}

const ofLists: readonly OptionRow[] = [
  ["-q, --query <fiql>", "only what the query finds"],
  ["--sort <field:DIR>", "the order"],
  ["--limit <n>", "so many, 50 by default"],
  ["--all", "all of them"],
  ["--watch", "show it again every two seconds until Ctrl-C"],
];
const ofChanges: readonly OptionRow[] = [
  ["--dry-run", "show the request instead of sending it"],
  ["--curl", "show the request as curl"],
];
const ofAll: readonly OptionRow[] = [
  ["-o, --output <format>", "table, wide, json, jsonl, yaml, csv, name, jsonpath={.member}"],
  ["--jsonl", "one JSON object a line"],
  ["--columns <names>", "columns or members, with commas"],
  ["--server <url>", "the address of the server (HARRIER_SERVER)"],
  ["--token <token>", "an access token (HARRIER_TOKEN)"],
  ["--context <name>", "another context than the current one (HARRIER_CONTEXT)"],
  ["-v, --verbose", "tell of each request"],
];

/** The options of a verb, with those that its kind and all verbs have. */
function optionsOf(verb: Verb | undefined): readonly OptionRow[] {
  return [
    ...(verb?.options ?? []),
    ...(verb?.list ? ofLists : []),
    ...(verb?.writes ? ofChanges : []),
    ...(verb?.destructive ? ([["--yes", "do not ask"]] as const) : []),
    ...ofAll,
  ];
}

function addVerb(parent: Command, verb: Verb, begun: (session: Session, verb: Verb) => void, signal: AbortSignal): void {
  const command = parent
    .command(`${verb.name}${verb.args === undefined ? "" : ` ${verb.args}`}`)
    .aliases(verb.aliases ?? [])
    .description(verb.summary)
    .exitOverride();
  for (const [flags, said] of optionsOf(verb)) command.option(flags, said, flags.startsWith("-o,") ? "table" : undefined);
  command.action(async (...given: unknown[]) => {
    const options = (given.at(-1) as Command).opts() as Options & GlobalOptions & { jsonl?: true };
    const session = new Session(options.jsonl ? { ...options, output: "jsonl" } : options, signal);
    begun(session, verb);
    const args = given
      .slice(0, -2)
      .flat()
      .filter((arg) => arg !== undefined) as string[];
    await (verb.list && options["watch"] ? watched(() => verb.run(session, args, options), signal) : verb.run(session, args, options));
  });
}

const watchMs = 2_000;

/** Shows a list again and again; a person who looks at it is what it is for, so it ends with Ctrl-C. */
async function watched(run: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (redraws()) await put("\x1b[H\x1b[2J");
    await run();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, watchMs);
      const ended = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", ended, { once: true });
    });
  }
  throw signal.reason;
}
