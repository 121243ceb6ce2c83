import { actionStatusNames, forceTypeNames, rolloutGroupStatusNames, rolloutStatusNames, updateStatusNames } from "../codes.ts";
import { confirmationAnswers } from "../device/confirmation.ts";
import { attributeModes, executions, finishedResults } from "../device/feedback.ts";
import { actionStatusWords } from "../management/action-view.ts";
import { auditResults } from "../management/audit.contract.ts";
import { quotaKeys } from "../quotas.ts";
import { type JsonSchema, type OpenApi, rootSchemas, within } from "./json.ts";

/**
 * These enumerations are one type wherever they occur. Generators name an unnamed type after its place, which makes two of them collide: the status
 * of an action would be `ActionStatus`, as is an entry of its history.
 */
const enums: Readonly<Record<string, readonly string[]>> = {
  ActionDetailStatus: actionStatusWords,
  ActionHistoryStatus: actionStatusNames,
  ActionProgress: ["pending", "finished"],
  ActionType: ["update", "cancel"],
  AttributeMode: attributeModes,
  AuditResult: auditResults,
  ConfirmationAnswer: confirmationAnswers,
  DeploymentHandling: ["skip", "attempt", "forced"],
  FeedbackExecution: executions,
  FeedbackResult: finishedResults,
  ForceType: forceTypeNames,
  OnNotFoundPolicy: ["FAIL", "ON_WHAT_FOUND_AND_FAIL", "ON_WHAT_FOUND_AND_SUCCESS"],
  QuotaKey: quotaKeys,
  Representation: ["compact", "full"],
  RolloutGroupStatus: rolloutGroupStatusNames,
  RolloutStatus: rolloutStatusNames,
  SoftDeletedMode: ["EXCLUDE_SOFT_DELETED", "INCLUDE_SOFT_DELETED", "ONLY_SOFT_DELETED"],
  UpdateStatus: updateStatusNames,
};
const enumNames = new Map(Object.entries(enums).map(([name, words]) => [words.join(), name]));

const reference = (name: string) => `#/components/schemas/${name}`;

/** Makes each of the enumerations above a component. */
export function nameEnums(document: OpenApi): void {
  const { schemas } = document.components;
  const named = new Set<JsonSchema>();
  const visit = (schema: JsonSchema): void => {
    if (named.has(schema)) return;
    const name = schema.type === "string" ? enumNames.get((schema.enum ?? []).join()) : undefined;
    if (name !== undefined) {
      schemas[name] ??= { type: "string", enum: [...(enums[name] ?? [])] };
      named.add(schemas[name]);
      delete schema.type;
      delete schema.enum;
      schema.$ref = reference(name);
    }
    for (const inner of within(schema)) visit(inner);
  };
  for (const schema of rootSchemas(document)) visit(schema);
}

/** Names of nested objects whose place gives no name or a bad one. */
const betterNames: Readonly<Record<string, string>> = {
  AssignmentResultAssignedActions: "AssignedAction",
  TargetImportErrors: "TargetImportError",
  AuditVerificationServices: "AuditVerificationService",
  ChunkMetadata: "ChunkMetadataEntry",
  TenantConfigurationEntryLinks: "TenantConfigurationEntryLink",
};

/** Makes each nested object a component that is named after its place; throws if that name is taken. */
export function nameObjects(schemas: Record<string, JsonSchema>): void {
  const move = (schema: JsonSchema, name: string): void => {
    const { properties } = schema;
    if (properties !== undefined && Object.keys(properties).length > 0) {
      const better = betterNames[name] ?? name;
      if (schemas[better] !== undefined) throw new TypeError(`There are two schemas ${better}: name one of them in its contract.`);
      const { description, default: otherwise, ...own } = schema;
      schemas[better] = own;
      for (const key of Object.keys(own)) delete schema[key];
      Object.assign(schema, { $ref: reference(better) });
      inside(own, better);
    } else for (const inner of within(schema)) move(inner, name);
  };
  const inside = (schema: JsonSchema, name: string): void => {
    for (const [member, property] of Object.entries(schema.properties ?? {})) move(property, name + pascal(member));
    if (schema.properties === undefined) for (const inner of within(schema)) inside(inner, name);
  };
  for (const [name, schema] of Object.entries({ ...schemas })) inside(schema, name);
}

function pascal(member: string): string {
  return member
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== "")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}
