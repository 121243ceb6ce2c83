import { basePaths, type Route, routes, type Surface } from "@harrier/contracts";

/** The meaning of a request path: the route, and the path parameters that sign-in needs. */
export type Match =
  | { kind: "route"; route: Route; surface: Surface; params: Record<string, string> }
  | { kind: "method-not-allowed"; surface: Surface; allow: string }
  | { kind: "not-found"; surface: Surface };

interface Node {
  literals: Map<string, Node>;
  parameter?: Node;
  /** A parameter that ends in a fixed text, such as `:fileName.MD5SUM`; it is tried before the plain one. */
  suffixed: Map<string, Node>;
  methods: Map<string, { route: Route; names: string[] }>;
}

const newNode = (): Node => ({ literals: new Map(), suffixed: new Map(), methods: new Map() });

/**
 * Builds a tree over path segments, once from the route table. Literal segments take precedence over parameters
 * (`confirmationBase/activateAutoConfirm` before `confirmationBase/:actionId`).
 */
export function createRouteIndex(table: readonly Route[] = routes): (method: string, path: string) => Match {
  const device = newNode();
  const management = newNode();
  for (const route of table) add(route.interface === "device" ? device : management, route);
  return (method, path) => {
    const surface = surfaceOf(path);
    if (surface === "device") return find(device, { method, segments: path.split("/"), from: 1, surface });
    const base = basePaths[surface];
    return find(management, { method, segments: path.slice(base.length).split("/"), from: 1, surface });
  };
}

function surfaceOf(path: string): Surface {
  if (path.startsWith(`${basePaths.spec}/`)) return "spec";
  if (path.startsWith(`${basePaths.rest}/`)) return "rest";
  return "device";
}

function add(root: Node, route: Route): void {
  const names: string[] = [];
  let node = root;
  for (const segment of route.path.split("/").slice(1)) {
    const parameter = /^:(\w+)(.*)$/.exec(segment);
    if (parameter === null) {
      node = child(node.literals, segment);
      continue;
    }
    const [, name = "", suffix = ""] = parameter;
    names.push(name);
    if (suffix !== "") node = child(node.suffixed, suffix);
    else {
      node.parameter ??= newNode();
      node = node.parameter;
    }
  }
  node.methods.set(route.method, { route, names });
}

function child(of: Map<string, Node>, key: string): Node {
  let node = of.get(key);
  if (node === undefined) {
    node = newNode();
    of.set(key, node);
  }
  return node;
}

interface Search {
  method: string;
  segments: readonly string[];
  from: number;
  surface: Surface;
}

function find(root: Node, search: Search): Match {
  const values: string[] = [];
  const node = descend(root, search.segments, search.from, values);
  if (!node || node.methods.size === 0) return { kind: "not-found", surface: search.surface };
  const found = node.methods.get(search.method === "HEAD" ? "GET" : search.method);
  if (!found) return { kind: "method-not-allowed", surface: search.surface, allow: [...node.methods.keys()].join(", ") };
  const params: Record<string, string> = {};
  for (let i = 0; i < found.names.length; i++) params[found.names[i] as string] = values[i] as string;
  return { kind: "route", route: found.route, surface: search.surface, params };
}

function descend(node: Node, segments: readonly string[], at: number, values: string[]): Node | undefined {
  if (at === segments.length) return node;
  const segment = segments[at] as string;
  const literal = node.literals.get(segment);
  if (literal) {
    const deeper = descend(literal, segments, at + 1, values);
    if (deeper && deeper.methods.size > 0) return deeper;
  }
  for (const [suffix, next] of node.suffixed) {
    if (segment.length <= suffix.length || !segment.endsWith(suffix)) continue;
    const deeper = withValue(next, segment.slice(0, -suffix.length), { segments, at, values });
    if (deeper) return deeper;
  }
  if (!node.parameter || segment === "") return undefined;
  return withValue(node.parameter, segment, { segments, at, values });
}

function withValue(node: Node, value: string, rest: { segments: readonly string[]; at: number; values: string[] }): Node | undefined {
  rest.values.push(value);
  const deeper = descend(node, rest.segments, rest.at + 1, rest.values);
  if (!deeper || deeper.methods.size === 0) rest.values.pop();
  return deeper && deeper.methods.size > 0 ? deeper : undefined;
}
