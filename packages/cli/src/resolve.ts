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
  /** The list is an array, which the server does not search. */
  readonly whole?: true;
  /** What the path takes instead of the id; `text` means that this is what is given. */
  readonly ref?: { readonly member: string; readonly text?: true };
}

/** Answers what names an entity in a path: its id, or what `ref` says. */
export async function refOf(session: Session, kind: Kind, given: string): Promise<number | string> {
  if (kind.ref?.text) return given;
  if (kind.ref === undefined) return idOf(session, kind, given);
  const found = one(kind, given, await byName(session, kind, given), ({ name }) => name) as unknown as Record<string, string>;
  return found[kind.ref.member] ?? given;
}

/** Answers the id of an entity that is given by id or name. What has digits alone is an id. More than one of a name is exit 5 with the candidates. */
export async function idOf(session: Session, kind: Kind, given: string): Promise<number> {
  if (/^\d+$/.test(given)) return Number(given);
  return one(kind, given, await byName(session, kind, given), ({ id }) => id).id;
}

function one(kind: Kind, given: string, found: readonly Entity[], ref: (entity: Entity) => number | string): Entity {
  const [first] = found;
  if (first === undefined) throw new ExitError(exit.notFound, `there is no ${kind.word} ${given}`);
  if (found.length > 1) {
    const candidates = found
      .map((entity) => `${ref(entity)} (${entity.name}${entity.version === undefined ? "" : `:${entity.version}`})`)
      .join(", ");
    throw new ExitError(exit.notFound, `${given} is ambiguous, give the id: ${candidates}`);
  }
  return first;
}

async function byName(session: Session, { list, versioned, key, whole, ref }: Kind, given: string): Promise<Entity[]> {
  const at = versioned ? given.lastIndexOf(":") : -1;
  const name = at > 0 ? given.slice(0, at) : given;
  const version = at > 0 ? given.slice(at + 1) : undefined;
  const ofName = key ? `(key==${quoted(name)},name==${quoted(name)})` : `name==${quoted(name)}`;
  const q = version === undefined ? ofName : `${ofName};version==${quoted(version)}`;
  type Named = Entity & { key?: string };
  const answer = (await session.read(list as never, (whole ? {} : { query: { q, limit: 20 } }) as never)) as Named[] | { content: Named[] };
  const content = Array.isArray(answer) ? answer : answer.content;
  // the server compares without regard to case
  const exact = content.filter(
    (one) =>
      (one.name === name || one.key === name || (ref !== undefined && (one as never)[ref.member] === given)) &&
      (version === undefined || one.version === version),
  );
  return exact.length > 0 || whole ? exact : content;
}
