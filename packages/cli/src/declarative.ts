import { type Options, text, texts, type Verb } from "./command.ts";
import { usage } from "./exit.ts";

const file: readonly [string, string] = ["-f, --file <path...>", "a file, a folder with YAML files, or - for standard input"];
function filesOf(options: Options): readonly string[] {
  const paths = texts(options, "file");
  if (paths.length === 0) throw usage("-f is missing");
  return paths;
}

/** The declarative commands; what they need (schemas, YAML) is loaded with them. */
const outside = ["--allow-outside", "take artifacts from outside of the folder of the file that names them"] as const;

export const declarative: readonly Verb[] = [
  {
    name: "apply",
    finishes: true,
    summary: "Create and update what files say; nothing is deleted, and a second time nothing is written",
    options: [
      file,
      ["--dry-run", "show what would be done, and preview rollouts"],
      ["--exit-code", "with --dry-run: exit 7 if something differs"],
      outside,
      ["--secrets-out <file>", "write secrets that are made into this new file (mode 0600) instead of showing them"],
    ],
    async run(session, _args, options) {
      const { apply } = await import("./apply/apply.ts");
      await apply(session, filesOf(options), {
        dryRun: options["dryRun"] === true,
        exitCode: options["exitCode"] === true,
        secretsOut: text(options, "secretsOut"),
        outside: options["allowOutside"] === true,
      });
    },
  },
  {
    name: "diff",
    summary: "Show what differs between files and server; exit 7 if something does",
    options: [file, outside],
    async run(session, _args, options) {
      const { diff } = await import("./apply/apply.ts");
      await diff(session, filesOf(options), { outside: options["allowOutside"] === true });
    },
  },
  {
    name: "export",
    summary: "Write what the server has as files for apply",
    args: "[kind...]",
    async run(session, wanted) {
      const { exportKinds } = await import("./apply/export.ts");
      await exportKinds(session, wanted);
    },
  },
  {
    name: "lint",
    summary: "Say what is wrong with files, without a server",
    options: [file],
    async run(session, _args, options) {
      const { lint } = await import("./apply/explain.ts");
      await lint(session, filesOf(options));
    },
  },
  {
    name: "explain",
    summary: "Say what a kind of file may hold: explain Rollout.groups; --schema writes its JSON Schema for editors",
    args: "<kind>",
    options: [["--schema", "the JSON Schema of the kind"]],
    async run(session, [path = ""], options) {
      const { explain } = await import("./apply/explain.ts");
      await explain(session, path, { schema: options["schema"] === true });
    },
  },
];
