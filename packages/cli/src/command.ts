import type { Kind } from "./resolve.ts";
import type { Session } from "./session.ts";

export type Options = Readonly<Record<string, string | string[] | true | undefined>>;

/** An option of a verb, as commander writes it. */
export type OptionRow = readonly [flags: string, text: string];

/** A verb of a noun: what is typed behind it, and what it does. */
export interface Verb {
  readonly name: string;
  /** Other words for it. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** The arguments as commander writes them: `<name>`, `[file]`, `<target...>`. */
  readonly args?: string;
  readonly options?: readonly OptionRow[];
  /** A list: `-q`, `--sort`, `--limit`, `--all`, `--watch`. */
  readonly list?: true;
  /** It changes something: `--dry-run`, `--curl`. */
  readonly writes?: true;
  /** What it does counts, not what it prints: it goes on when the reader of its output has gone. Verbs that write are so without it. */
  readonly finishes?: true;
  /** It loses something: it also asks, or takes `--yes`. */
  readonly destructive?: true;
  /** What its arguments name, for completion; the last one holds for all that follow. */
  readonly completes?: readonly Kind[];
  run(session: Session, args: readonly string[], options: Options): Promise<void>;
}

/** A noun with the words by which it is known; the first is the one that help shows. */
export interface Noun {
  readonly names: readonly string[];
  readonly summary: string;
  readonly verbs: readonly Verb[];
}

/** Reads an option that may be given once. */
export function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Reads an option that may be given many times. */
export function texts(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}

/** The members of a body that were given. */
export function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
