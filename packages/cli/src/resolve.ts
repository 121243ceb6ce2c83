import type { RouteRow } from "@harrier/client";
import { ExitError, exit } from "./exit.ts";
import type { Session } from "./session.ts";

/** Writes a text as a quoted value of a query, in which an asterisk is one. */
export function quoted(text: string): string {
  return `'${text.replaceAll("*", "\\*").replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

interface Entity {
  readonly id: number;
  readonly name: string;
  readonly version?: string;
}

/** How entities of a kind are found by name. */
export interface Kind {
  readonly word: string;
  readonly list: RouteRow;
  /** Sets and modules are named `name:version`. */
  readonly versioned?: true;
  readonly key?: true;
}

/** Answers the id of an entity that is given by id or name. What has digits alone is an id. More than one of a name is exit 5 with the candidates. */
export async function idOf(session: Session, kind: Kind, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  const found = await byName(session, kind, given);
  const [first] = found;
  if (first === undefined) throw new ExitError(exit.notFound, `there is no ${kind.word} ${given}`);
  if (found.length > 1) {
    const candidates = found.map(({ id, name, version }) => `${id} (${name}${version === undefined ? "" : `:${version}`})`).join(", ");
    throw new ExitError(exit.notFound, `${given} is ambiguous, give the id: ${candidates}`);
  }
  return first.id;
}

async function byName(session: Session, { list, versioned, key }: Kind, given: string): Promise<Entity[]> {
  const at = versioned ? given.lastIndexOf(":") : -1;
  const name = at > 0 ? given.slice(0, at) : given;
  const version = at > 0 ? given.slice(at + 1) : undefined;
  const ofName = key ? `(key==${quoted(name)},name==${quoted(name)})` : `name==${quoted(name)}`;
  const q = version === undefined ? ofName : `${ofName};version==${quoted(version)}`;
  const page = (await session.read(list as never, { query: { q, limit: 20 } } as never)) as { content: (Entity & { key?: string })[] };
  // the server compares without regard to case
  const exact = page.content.filter((one) => (one.name === name || one.key === name) && (version === undefined || one.version === version));
  return exact.length > 0 ? exact : page.content;
}
