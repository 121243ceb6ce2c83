import {
  distributionSetCreate,
  metadataCreate,
  moduleMetadataCreate,
  roleCreate,
  rolloutCreate,
  rolloutDecisionBody,
  rolloutGroupCreate,
  rolloutUpdateBody,
  routeTable,
  softwareModuleCreate,
  softwareModuleTypeCreate,
  tagCreate,
  targetCreate,
  targetFilterCreate,
  targetTypeCreate,
  tenantCreate,
  userCreate,
} from "@harrier/contracts";
import { expect, it } from "vitest";
import { limits } from "./limits.ts";

interface Schema {
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly error?: { readonly issues: readonly { readonly path: readonly unknown[] }[] };
  };
}

const r = routeTable;
const bodyOf = (row: object): Schema => (row as { body: Schema }).body;

const fields: readonly (readonly [what: string, schema: Schema, field: string, limit: number])[] = [
  ["a rollout", rolloutCreate, "name", limits.name],
  ["a rollout", rolloutCreate, "description", limits.description],
  ["a rollout", rolloutCreate, "targetFilterQuery", limits.query],
  ["a change of a rollout", rolloutUpdateBody, "name", limits.name],
  ["a change of a rollout", rolloutUpdateBody, "description", limits.description],
  ["a group", rolloutGroupCreate, "name", limits.name],
  ["a decision", rolloutDecisionBody, "remark", limits.remark],
  ["a filter", targetFilterCreate, "name", limits.name],
  ["a filter", targetFilterCreate, "query", limits.query],
  ["a set", distributionSetCreate, "name", limits.name],
  ["a set", distributionSetCreate, "version", limits.version],
  ["a set", distributionSetCreate, "description", limits.description],
  ["a module", softwareModuleCreate, "name", limits.name],
  ["a module", softwareModuleCreate, "version", limits.version],
  ["a module", softwareModuleCreate, "vendor", limits.vendor],
  ["metadata", metadataCreate, "key", limits.metadataKey],
  ["metadata", metadataCreate, "value", limits.metadataValue],
  ["metadata of a module", moduleMetadataCreate, "key", limits.metadataKey],
  ["metadata of a module", moduleMetadataCreate, "value", limits.metadataValue],
  ["a target", targetCreate, "controllerId", limits.controllerId],
  ["a target", targetCreate, "name", limits.name],
  ["a target", targetCreate, "description", limits.description],
  ["a change of a target", bodyOf(r.targets.update), "group", limits.group],
  ["a type", targetTypeCreate, "key", limits.typeKey],
  ["a type", targetTypeCreate, "name", limits.name],
  ["a type of modules", softwareModuleTypeCreate, "key", limits.typeKey],
  ["a type of modules", softwareModuleTypeCreate, "colour", limits.colour],
  ["a tag", tagCreate, "name", limits.name],
  ["a tag", tagCreate, "colour", limits.colour],
  ["a role", roleCreate, "name", limits.name],
  ["a user", userCreate, "name", limits.name],
  ["a user", userCreate, "password", limits.password],
  ["a tenant", tenantCreate, "name", limits.name],
  ["a tenant", tenantCreate, "description", limits.description],
  ["a webhook", bodyOf(r.webhooks.create), "name", limits.webhookName],
];

/** Whether a schema takes a field of so many characters; what else it lacks does not count. */
function takes(schema: Schema, field: string, length: number): boolean {
  const { success, error } = schema.safeParse({ [field]: "a".repeat(length) });
  return success || !error?.issues.some(({ path }) => path.includes(field));
}

it.each(fields)("a form takes of %s as much as the contract does: %s", (_what, schema, field, limit) => {
  expect([takes(schema, field, limit), takes(schema, field, limit + 1)]).toEqual([true, false]);
});
