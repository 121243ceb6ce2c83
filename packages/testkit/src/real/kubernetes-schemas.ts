/** A part of an OpenAPI description. */
type Node = { readonly [member: string]: unknown };
type Definitions = Record<string, Node>;

interface KindSchema {
  /** The name of the file, as kubeconform asks for it: `deployment-apps-v1.json`. */
  readonly name: string;
  readonly schema: object;
}

const textOrNumber = (number: "integer" | "number") => ({ oneOf: [{ type: "string" }, { type: number }] });
/** These have a form of their own on the wire, which the description names as text alone. */
const ownForms: Definitions = {
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": textOrNumber("integer"),
  "io.k8s.apimachinery.pkg.api.resource.Quantity": textOrNumber("number"),
};

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const fileOf = (kind: string, group: string, version: string): string =>
  `${kind.toLowerCase()}${group === "" ? "" : `-${group.split(".")[0]}`}-${version}.json`;

/** Makes a JSON schema of a part of the description, in which an object has no members but the described ones. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (!isNode(value)) return value;
  if (value["x-kubernetes-int-or-string"] === true || value["format"] === "int-or-string") return textOrNumber("integer");
  const members = Object.entries(value).filter(([name]) => !name.startsWith("x-kubernetes-") && name !== "nullable");
  const schema = Object.fromEntries(members.map(([name, member]) => [name, strict(member)]));
  const isOpen = value["x-kubernetes-preserve-unknown-fields"] === true || schema["additionalProperties"] !== undefined;
  return isNode(schema["properties"]) && !isOpen ? { ...schema, additionalProperties: false } : schema;
}

/** Adds the names of all definitions to which a part refers, also over others. */
function collect(part: unknown, all: Definitions, into: Set<string>): Set<string> {
  if (Array.isArray(part)) for (const member of part) collect(member, all, into);
  if (!isNode(part)) return into;
  for (const [name, member] of Object.entries(part)) {
    const target = name === "$ref" && typeof member === "string" ? member.slice("#/definitions/".length) : undefined;
    if (target === undefined) collect(member, all, into);
    else if (!into.has(target)) collect(all[target], all, into.add(target));
  }
  return into;
}

const withKind = (schema: Node, apiVersion: string, kind: string): object => ({
  ...schema,
  properties: {
    ...(isNode(schema["properties"]) ? schema["properties"] : {}),
    apiVersion: { type: "string", enum: [apiVersion] },
    kind: { type: "string", enum: [kind] },
  },
  required: [...new Set([...((schema["required"] as string[] | undefined) ?? []), "apiVersion", "kind"])],
});

/** Makes the schemas of Kubernetes' own kinds of its OpenAPI description. */
export function openApiSchemas(swagger: { definitions: Definitions }): KindSchema[] {
  const all: Definitions = {};
  for (const [name, definition] of Object.entries(swagger.definitions)) all[name] = strict(definition) as Node;
  Object.assign(all, ownForms);
  return Object.entries(swagger.definitions).flatMap(([name, definition]) => {
    const kinds = (definition["x-kubernetes-group-version-kind"] ?? []) as { group: string; version: string; kind: string }[];
    return kinds.map(({ group, version, kind }) => {
      const schema = all[name] ?? {};
      const definitions = Object.fromEntries([...collect(schema, all, new Set())].map((used) => [used, all[used]]));
      const apiVersion = group === "" ? version : `${group}/${version}`;
      return { name: fileOf(kind, group, version), schema: { ...withKind(schema, apiVersion, kind), definitions } };
    });
  });
}

/** Makes the schemas of a CustomResourceDefinition, one for each version. */
export function crdSchemas(manifest: Node): KindSchema[] {
  if (manifest["kind"] !== "CustomResourceDefinition") return [];
  const spec = manifest["spec"] as {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Node } }[];
  };
  return spec.versions.map(({ name, schema }) => {
    const own = strict(schema.openAPIV3Schema) as Node;
    const open = { ...own, properties: { ...(own["properties"] as Node), metadata: { type: "object" } } };
    return { name: fileOf(spec.names.kind, spec.group, name), schema: withKind(open, `${spec.group}/${name}`, spec.names.kind) };
  });
}
