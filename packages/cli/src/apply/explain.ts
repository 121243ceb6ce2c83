import { ExitError, exit, usage } from "../exit.ts";
import type { Session } from "../session.ts";
import { readManifests } from "./documents.ts";
import { kinds } from "./kinds.ts";
import { problemsIn } from "./plan.ts";
import { jsonSchemaOf, type KindName, kindNames } from "./schemas.ts";

interface Node {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
}

/** `lint`: says everything that is wrong with files by themselves, without a server. Wrong usage (exit 64) if there is anything, as `apply` has it. */
export async function lint(session: Session, paths: readonly string[]): Promise<void> {
  const manifests = readManifests(paths);
  const problems = problemsIn(manifests);
  for (const problem of problems.slice(0, -1)) session.note(`error: ${problem}`);
  const last = problems.at(-1);
  if (last !== undefined) throw usage(last);
  session.note(`${manifests.length} objects, nothing wrong`);
}

/** `explain`: the members of a kind, or of one of its members, with what they may be; or the JSON Schema of the kind. */
export async function explain(session: Session, path: string, { schema }: { schema: boolean }): Promise<void> {
  const [kind = "", ...members] = path.split(".");
  const known = kindNames.find((name) => name.toLowerCase() === kind.toLowerCase());
  if (known === undefined) throw usage(`there is no kind ${kind}: ${kindNames.join(", ")}`);
  const whole = jsonSchemaOf(known, known !== "Setting" && kinds[known as Exclude<KindName, "Setting">].versioned === true) as Node;
  if (schema) return session.print(`${JSON.stringify(whole, undefined, 2)}\n`);
  const spec = whole.properties?.["spec"] as Node;
  const resolved = (node: Node | undefined): Node | undefined =>
    node?.$ref === undefined ? node : resolved(spec.$defs?.[node.$ref.split("/").at(-1) as string]);
  let at: Node | undefined = spec;
  for (const member of members) {
    if (at === spec && member === "spec") continue;
    at = resolved(membersOf(at, resolved)?.properties?.[member]);
    if (at === undefined) throw new ExitError(exit.notFound, `${known} has no member ${members.join(".")}`);
  }
  const of = membersOf(at, resolved);
  const rows =
    of === undefined
      ? [{ member: members.at(-1) ?? known, ...described(at as Node, resolved), required: false }]
      : Object.entries(of.properties ?? {}).map(([member, node]) => ({
          member,
          ...described(resolved(node) as Node, resolved),
          required: of.required?.includes(member) === true,
        }));
  await session.rows(
    rows.sort((a, b) => Number(b.required) - Number(a.required)),
    [
      { head: "MEMBER", at: "member" },
      { head: "TYPE", at: "type" },
      { head: "REQUIRED", at: ({ required }: { required: boolean }) => (required ? "yes" : "") },
      { head: "VALUES", at: "values" },
    ],
    { name: "member" },
  );
}

type Resolve = (node: Node | undefined) => Node | undefined;

/** The object whose members an object, a list of objects, or one of several forms has. */
function membersOf(node: Node | undefined, resolved: Resolve): Node | undefined {
  if (node?.properties !== undefined) return node;
  if (node?.items !== undefined) return membersOf(resolved(node.items), resolved);
  for (const one of node?.anyOf ?? []) {
    const found = membersOf(resolved(one), resolved);
    if (found !== undefined) return found;
  }
  return undefined;
}

function described(node: Node, resolved: Resolve): { type: string; values: string } {
  const { enum: values, const: only, minimum, maximum, maxLength, anyOf, items } = node;
  if (values !== undefined || only !== undefined) return { type: "string", values: (values ?? [only]).join(", ") };
  if (anyOf !== undefined) {
    const forms = anyOf.map((one) => described(resolved(one) ?? {}, resolved)).filter(({ type }) => type !== "null");
    return {
      type: [...new Set(forms.map(({ type }) => type))].join(" | "),
      values: [...new Set(forms.map((form) => form.values).filter(Boolean))].join("; "),
    };
  }
  if (items !== undefined) {
    const of = described(resolved(items) ?? {}, resolved);
    return { type: `list of ${of.type}`, values: of.values };
  }
  const type = Array.isArray(node.type)
    ? node.type.filter((one) => one !== "null").join(" | ")
    : ((node.type as string | undefined) ?? "any");
  const isSafe = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  const range = [...(isSafe(minimum) ? [`from ${minimum}`] : []), ...(isSafe(maximum) ? [`to ${maximum}`] : [])].join(" ");
  return { type, values: range || (maxLength === undefined ? "" : `up to ${maxLength} characters`) };
}
