import type { Surface } from "@harrier/errors";
import { componentTexts, linkTexts } from "./component-texts.ts";
import { embedExamples } from "./examples.ts";
import { type JsonSchema, type OpenApi, operationsOf, rootSchemas, within } from "./json.ts";
import { fieldsOf } from "./list-fields.ts";
import { memberTexts } from "./member-texts.ts";
import { nameEnums, nameObjects } from "./names.ts";
import { parameterTexts } from "./parameter-texts.ts";

/**
 * Completes a document with what the schemas do not say: names for everything that generated code has to name, descriptions of members and
 * parameters, the fields of queries, and the examples of tests.
 */
export function finished(document: OpenApi, surface: Surface): OpenApi {
  for (const schema of rootSchemas(document)) tidy(schema);
  nameObjects(document.components.schemas);
  nameEnums(document);
  describeMembers(document.components.schemas);
  describeParameters(document);
  embedExamples(document, surface);
  return document;
}

/** These formats say everything that the pattern beside them would; some generators treat a pattern beside a date as an error. */
const selfEvident = new Set(["date", "date-time", "time", "uuid", "email", "uri", "ipv4", "ipv6"]);

function tidy(schema: JsonSchema): void {
  if (schema.format !== undefined && selfEvident.has(schema.format)) delete schema.pattern;
  if (schema.propertyNames !== undefined && Object.keys(schema.propertyNames).join() === "type") delete schema.propertyNames;
  // the bounds of JavaScript's whole numbers tell a reader nothing
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.type === "integer") schema.format ??= "int64";
  for (const inner of within(schema)) tidy(inner);
}

function describeMembers(schemas: Record<string, JsonSchema>): void {
  for (const [name, schema] of Object.entries(schemas)) {
    const text = componentTexts[name];
    if (text !== undefined) schema.description ??= text;
    for (const [member, property] of Object.entries(schema.properties ?? {})) {
      const isLink = property.$ref === "#/components/schemas/Link";
      const owner = name.endsWith("Page") ? "Page" : name;
      const text = memberTexts[`${owner}.${member}`] ?? (isLink ? linkTexts[member] : memberTexts[member]);
      if (text !== undefined) property.description ??= text;
    }
  }
}

function describeParameters(document: OpenApi): void {
  for (const { operation } of operationsOf(document)) {
    for (const parameter of operation.parameters ?? []) {
      const text = parameterTexts[`${operation.operationId}.${parameter.name}`] ?? parameterTexts[parameter.name];
      if (text !== undefined) parameter.description = text;
      if (parameter.name !== "q" && parameter.name !== "sort") continue;
      const fields = fieldsOf(operation, document);
      if (fields === undefined) continue;
      Object.assign(parameter, parameter.name === "q" ? { "x-fields": fields.q } : { "x-fields": fields.sort });
      parameter.description = `${text}\n\nFields: ${shown(parameter.name === "q" ? fields.q : fields.sort)}.`;
    }
  }
}

function shown(fields: readonly string[] | Readonly<Record<string, string>>): string {
  if (Array.isArray(fields)) return fields.map((name) => `\`${name}\``).join(", ");
  return Object.entries(fields)
    .map(([name, kind]) => `\`${name}\` (${kind})`)
    .join(", ");
}
