import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Noun, OptionRow, Verb } from "./command.ts";
import { readLine } from "./complete-line.ts";
import { environment } from "./environment.ts";
import { type Kind, quoted } from "./resolve.ts";
import type { GlobalOptions, Session } from "./session.ts";
import { inFull, offeredTypes } from "./short-forms.ts";

/** A shell waits for it, so it answers nothing after this. */
export const completionMs = 1_000;
const keptMs = 30_000;
const maxNames = 50;
const maxKept = 200;

interface Kept {
  readonly key: string;
  readonly until: number;
  readonly names: readonly string[];
}

const cachePath = (): string => join(environment.cacheHome || join(environment.home, ".cache"), "harrier", "names.json");

function readKept(): readonly Kept[] {
  try {
    return (JSON.parse(readFileSync(cachePath(), "utf8")) as Kept[]).filter(({ until }) => until > Date.now());
  } catch {
    return [];
  }
}

function keep(all: readonly Kept[]): void {
  const path = cachePath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, JSON.stringify(all.slice(-maxKept)), { mode: 0o600 });
  renameSync(next, path);
}

/** Names that begin with what is typed: the query of a list, whose names are `name:version` where the kind has versions. */
async function namesOf(session: Session, kind: Kind, prefix: string): Promise<readonly string[]> {
  type Row = { name: string; version?: string; key?: string; controllerId?: string };
  const member = kind.ref?.member === "controllerId" ? "controllerid" : "name";
  const at = kind.versioned ? prefix.indexOf(":") : -1;
  const begins = (field: string, text: string) => (text === "" ? "" : `${field}==${quoted(text).slice(0, -1)}*'`);
  const q = at > 0 ? [`name==${quoted(prefix.slice(0, at))}`, begins("version", prefix.slice(at + 1))] : [begins(member, prefix)];
  const query = { limit: maxNames, q: q.filter((part) => part !== "").join(";") || undefined };
  const answer = (await session.read(kind.list as never, (kind.whole ? {} : { query }) as never)) as Row[] | { content: Row[] };
  const rows = Array.isArray(answer) ? answer : answer.content;
  return rows
    .map(({ name, version, controllerId }) => controllerId ?? (version === undefined ? name : `${name}:${version}`))
    .filter((name) => name.toLowerCase().startsWith(prefix.toLowerCase()));
}

/** The nouns of the program, the options that each of its commands has, and how a run of it begins. */
export interface Completed {
  readonly nouns: readonly Noun[];
  readonly optionsOf: (verb: Verb | undefined) => readonly OptionRow[];
  readonly begin: (options: Pick<GlobalOptions, "server" | "token" | "context">) => Session;
}

const isCalled = (called: string) => (verb: Verb) => verb.name === called || verb.aliases?.includes(called) === true;
const takesValue = (rows: readonly OptionRow[], flag: string): boolean =>
  rows.some(([flags]) => /[<[]/.test(flags) && flags.split(/[ ,]+/).includes(flag));

/**
 * Answers what may stand at the end of a line: verbs of a noun, then names of what its argument means, from the server. What it was told stays good for
 * 30 seconds, for whoever asked it. Where the server does not answer in a second, or refuses, there is nothing to say.
 */
export async function complete({ nouns, optionsOf, begin }: Completed, line: string): Promise<readonly string[]> {
  const found = (words: readonly string[]) => {
    const [noun = "", called, ...args] = words.length === 1 && words[0] === "dev" ? ["device"] : inFull(words);
    const of = nouns.find(({ names }) => names.includes(noun));
    return { of, called, args, verb: called === undefined ? undefined : of?.verbs.find(isCalled(called)) };
  };
  const { words, options, last, isValue } = readLine(line, (flag, before) => takesValue(optionsOf(found(before).verb), flag));
  const { of, called, args, verb } = found(words);
  if (isValue) return [];
  if (words.length === 1 && /^types?$/.test(words[0] ?? "")) return offeredTypes.filter((name) => name.startsWith(last));
  if (of === undefined) return [];
  if (called === undefined) return of.verbs.map(({ name }) => name).filter((name) => name.startsWith(last));
  const { completes = [] } = verb ?? {};
  const kind = completes[Math.min(args.length, completes.length - 1)];
  if (kind === undefined || last.startsWith("-") || (args.length >= completes.length && verb?.args?.includes("...") !== true)) return [];
  const typed = (["server", "token", "context"] as const).flatMap((name) =>
    options[`--${name}`] === undefined ? [] : [[name, options[`--${name}`] as string] as const],
  );
  return namesFor(begin(Object.fromEntries(typed)), kind, last);
}

/** The names that whoever signs in was told a moment ago, or asks for now: two who sign in differently are never told each other's. */
async function namesFor(session: Session, kind: Kind, last: string): Promise<readonly string[]> {
  const { server, as } = await session.place();
  const key = createHash("sha256")
    .update(JSON.stringify([server, as, kind.word, last]))
    .digest("hex");
  const kept = readKept();
  const known = kept.find((one) => one.key === key);
  if (known !== undefined) return known.names;
  const names = await namesOf(session, kind, last);
  keep([...kept, { key, until: Date.now() + keptMs, names }]);
  return names;
}
