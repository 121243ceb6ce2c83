import { commandLine } from "../../ui/api.state.ts";

/** What a page shows, as the command line asks for it. */
const list = (noun: string, { q, sort }: { q?: string | undefined; sort?: string | undefined }) =>
  commandLine(["harrier", noun, "list", ["--query", q], ["--sort", sort]]);
/** A name that begins as an option does stands behind the end of the options. */
const of = (noun: string, verb: string, ...words: string[]) =>
  commandLine(["harrier", noun, verb, ...(words.some((word) => word.startsWith("-")) ? ["--"] : []), ...words]);

export const commands = {
  list,
  of,
  api: "API",
  title: "This page as text",
  text: "The same for scripts and tickets. What you may see is the same there.",
  command: "Command line",
  curl: "HTTP",
  copy: (what: string) => `Copy: ${what}`,
  close: "Close",
};
