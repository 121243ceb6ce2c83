import { fieldsByItem, type ListFields, type Operation, operationsOf, type Parameter, type Route, routes } from "@harrier/contracts";
import {
  actionFields,
  autoAssignmentFields,
  type FieldMap,
  groupFields,
  metadataFields,
  moduleFields,
  moduleMetadataFields,
  moduleTypeFields,
  rolloutFields,
  type SortMap,
  setFields,
  sortFields,
  tagFields,
  targetFields,
  targetFilterFields,
  typeFields,
} from "@harrier/fiql";
import { beforeAll, describe, expect, it } from "vitest";
import { call, dialects } from "../support/call.ts";
import { publishedFor } from "../support/document.ts";
import { createFixture } from "../support/tenant.fixture.ts";
import { type ValidRequest, validRequests } from "../support/walk.ts";

// The service must take every field that the documents list for `q` and `sort`, and the documents must list every field that it takes.

const condition: Record<string, string> = { text: "==a", number: "==1", boolean: "==true", "epoch ms": "=gt=1" };

describe.each(dialects)("the fields that the document of %s names", (dialect) => {
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    requests = validRequests(await createFixture(dialect, "action.cleanup.actionExpiry"));
  });
  const named = (operation: Operation, name: string) => operation.parameters?.find((parameter) => parameter.name === name);
  const lists = operationsOf(publishedFor(dialect).document)
    .filter(({ method, operation }) => method === "get" && (named(operation, "q") ?? named(operation, "sort")) !== undefined)
    .map(({ operation }): [string, Parameter | undefined, Parameter | undefined] => [
      operation.operationId,
      named(operation, "q"),
      named(operation, "sort"),
    ]);

  it.each(lists)("%s accepts each of them", async (id, q, sort) => {
    const route = routes.find((row) => row.id === id) as Route;
    const options = await (requests[id] as ValidRequest)();
    for (const parameter of [q, sort]) if (parameter !== undefined) expect(parameter["x-fields"], parameter.name).toBeDefined();
    if (q !== undefined) {
      const fields = Object.entries(q["x-fields"] as ListFields["q"]);
      const requested = fields.map(([name, kind]) => name.replace("*", "some.key") + (condition[kind] ?? `==${kind.split(" | ")[0]}`));
      await call(route, dialect, { ...options, query: { ...options.query, q: requested.join(",") } });
    }
    if (sort !== undefined) {
      const requested = (sort["x-fields"] as string[]).map((name) => `${name}:DESC`);
      await call(route, dialect, { ...options, query: { ...options.query, sort: requested.join(",") } });
    }
  });
});

/** Lists are answered by these maps; those of users, tenants and the like belong to their own service alone. */
const maps: Record<string, [FieldMap | undefined, SortMap]> = {
  Target: [targetFields, sortFields.targets],
  DistributionSet: [setFields, sortFields.distributionSets],
  SoftwareModule: [moduleFields, sortFields.softwareModules],
  SoftwareModuleType: [moduleTypeFields, sortFields.softwareModuleTypes],
  DistributionSetType: [typeFields, sortFields.distributionSetTypes],
  TargetType: [typeFields, sortFields.targetTypes],
  TargetTag: [tagFields, sortFields.tags],
  DistributionSetTag: [tagFields, sortFields.tags],
  AutoAssignmentDetails: [autoAssignmentFields, sortFields.autoAssignments],
  TargetFilter: [targetFilterFields, sortFields.targetFilters],
  Metadata: [metadataFields, sortFields.metadata],
  SoftwareModuleMetadata: [moduleMetadataFields, sortFields.moduleMetadata],
  Action: [actionFields.spec, sortFields.actions.spec],
  ActionRest: [actionFields.rest, sortFields.actions.rest],
  ActionStatus: [undefined, sortFields.actionStatuses],
  Rollout: [rolloutFields, sortFields.rollouts],
  RolloutGroup: [groupFields, sortFields.rolloutGroups],
};

/** Lists every name that a query may use, with the sub fields of relations. */
function namesOf(fields: FieldMap): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.kind === "map") return [`${name}.*`];
    if (!("fields" in field)) return [name];
    return [...(field.bare === undefined ? [] : [name]), ...Object.keys(field.fields).map((inner) => `${name}.${inner}`)];
  });
}

it.each(Object.entries(maps))("none of the fields of %s is left out", (item, [q, sort]) => {
  const documented = fieldsByItem[item];
  expect(Object.keys(documented?.q ?? {}).toSorted()).toEqual(namesOf(q ?? {}).toSorted());
  expect([...(documented?.sort ?? [])].toSorted()).toEqual(Object.keys(sort.fields).toSorted());
});
