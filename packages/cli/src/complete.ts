import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Noun } from "./command.ts";
import { findWords } from "./complete-line.ts";
import { environment } from "./environment.ts";
import { type Kind, quoted } from "./resolve.ts";
import type { Session } from "./session.ts";

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

/**
 * Answers what may stand at the end of a line: verbs of a noun, then names of what its argument means, from the server. What it was told stays good for
 * 30 seconds. Where the server does not answer in a second, or refuses, there is nothing to say.
 */
export async function complete(nouns: readonly Noun[], session: Session, line: string): Promise<readonly string[]> {
  const { words, last } = findWords(line);
  const [noun, verb, ...args] = words;
  const of = nouns.find(({ names }) => names.includes(noun ?? ""));
  if (of === undefined) return [];
  if (verb === undefined) return of.verbs.map(({ name }) => name).filter((name) => name.startsWith(last));
  const completes = of.verbs.find(({ name }) => name === verb)?.completes ?? [];
  const kind = completes[Math.min(args.length, completes.length - 1)];
  const repeats = of.verbs.find(({ name }) => name === verb)?.args?.includes("...") ?? false;
  if (kind === undefined || last.startsWith("-") || (args.length >= completes.length && !repeats)) return [];
  const { server, credentials } = await session.place();
  const user = credentials !== undefined && "user" in credentials ? credentials.user : "";
  const key = [server, user, kind.word, last].join("\n");
  const kept = readKept();
  const known = kept.find((one) => one.key === key);
  if (known !== undefined) return known.names;
  const names = await namesOf(session, kind, last);
  keep([...kept, { key, until: Date.now() + keptMs, names }]);
  return names;
}
