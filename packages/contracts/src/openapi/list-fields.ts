import { forceTypeNames, proofEnds, rolloutStatusNames, updateStatusNames, watchStages } from "../codes.ts";
import { actionStatusWords } from "../management/action-view.ts";
import { auditResults } from "../management/audit.contract.ts";
import { autoAssignmentStatusNames } from "../management/auto-assignments.contract.ts";
import type { OpenApi, Operation } from "./json.ts";

/** The fields of a list's queries with their kinds, and the fields it can be sorted by. A `*` behind a dot stands for any key. */
export interface ListFields {
  readonly q: Readonly<Record<string, string>>;
  readonly sort: readonly string[];
}

const oneOf = (words: readonly string[]) => words.map((word) => word.toLowerCase()).join(" | ");
const number = "number";
const text = "text";
const moment = "epoch ms";
const flag = "boolean";

const changes = { createdat: moment, createdby: text, lastmodifiedat: moment, lastmodifiedby: text };
const named = { id: number, name: text, description: text, ...changes };
const typed = { type: text, "type.id": number, "type.key": text, "type.name": text };
const setIn = (name: string) => ({ [`${name}.id`]: number, [`${name}.name`]: text, [`${name}.version`]: text, [`${name}.type`]: text });
const tagged = { tag: text, "tag.id": number, "tag.name": text };
const any = (name: string) => ({ [`${name}.*`]: text });

const sortNamed = Object.keys(named);

const targetQuery = {
  ...named,
  id: text,
  controllerid: text,
  updatestatus: oneOf(updateStatusNames),
  ipaddress: text,
  lastcontrollerrequestat: moment,
  ...any("attribute"),
  ...any("metadata"),
  ...tagged,
  ...setIn("assignedds"),
  ...setIn("installedds"),
  targettype: text,
  "targettype.id": number,
  "targettype.key": text,
  "targettype.name": text,
  ...typed,
  autoconfirm: flag,
  group: text,
};

function actionFields(status: string): ListFields {
  const relation = (name: string) => ({ [`${name}.id`]: number, [`${name}.name`]: text });
  return {
    q: {
      id: number,
      active: flag,
      status,
      detailstatus: oneOf(actionStatusWords),
      laststatuscode: number,
      proof: oneOf(proofEnds.slice(0, 5)),
      stage: oneOf(watchStages),
      silent: flag,
      attempt: number,
      weight: number,
      externalref: text,
      ...changes,
      "target.id": text,
      "target.controllerid": text,
      "target.name": text,
      "target.updatestatus": oneOf(updateStatusNames),
      "target.address": text,
      "target.ipaddress": text,
      "target.lastcontrollerrequestat": moment,
      "target.targettype.key": text,
      ...setIn("distributionset"),
      ...relation("rollout"),
      ...relation("rolloutgroup"),
    },
    sort: ["id", "active", "status", "detailstatus", "laststatuscode", "weight", ...Object.keys(changes)],
  };
}

const typeFields = { q: { ...named, key: text }, sort: [...sortNamed, "key"] };
const tagFields = { q: { ...named, colour: text }, sort: [...sortNamed, "colour"] };
const rolloutSort = [...sortNamed, "status"];
const idAndName = { q: { id: number, name: text }, sort: ["id", "name"] };

/** The fields by the name of the schema of a list's items. */
export const fieldsByItem: Readonly<Record<string, ListFields>> = {
  Target: {
    q: targetQuery,
    sort: [...sortNamed, "controllerid", "updatestatus", "ipaddress", "lastcontrollerrequestat", "group"],
  },
  DistributionSet: {
    q: {
      ...named,
      version: text,
      ...typed,
      complete: flag,
      valid: flag,
      "module.id": number,
      "module.name": text,
      ...tagged,
      ...any("metadata"),
    },
    sort: [...sortNamed, "version", "complete", "valid", "type"],
  },
  SoftwareModule: { q: { ...named, version: text, ...typed, ...any("metadata") }, sort: [...sortNamed, "version", "type"] },
  SoftwareModuleType: { q: { ...typeFields.q, maxassignments: number }, sort: [...typeFields.sort, "maxassignments"] },
  DistributionSetType: typeFields,
  TargetType: typeFields,
  TargetTag: tagFields,
  DistributionSetTag: tagFields,
  TargetFilter: {
    q: { id: number, name: text, ...changes, ...setIn("autoassigndistributionset") },
    sort: ["id", "name", ...Object.keys(changes)],
  },
  AutoAssignmentDetails: {
    q: {
      ...{ id: number, name: text, ...changes },
      ...{ status: oneOf(autoAssignmentStatusNames), actiontype: oneOf(forceTypeNames), approvaldecidedby: text },
      ...setIn("distributionset"),
    },
    sort: ["id", "name", ...Object.keys(changes), "status", "actiontype", "approvaldecidedby"],
  },
  Metadata: { q: { key: text, value: text }, sort: ["key", "value"] },
  SoftwareModuleMetadata: { q: { key: text, value: text, targetvisible: flag }, sort: ["key", "value", "targetvisible"] },
  Action: actionFields("pending | finished"),
  ActionRest: actionFields(oneOf(actionStatusWords)),
  ActionStatus: { q: {}, sort: ["id", "reportedat", "timestamp", "createdat"] },
  Rollout: { q: { ...named, status: oneOf(rolloutStatusNames), ...setIn("distributionset") }, sort: rolloutSort },
  RolloutGroup: { q: named, sort: rolloutSort },
  RolloutStep: { q: {}, sort: ["sequence"] },
  User: idAndName,
  Role: idAndName,
  AuditEntry: {
    q: {
      ...{ time: moment, actor: text, actortype: text, action: text, entity: text, entityid: text, sourceip: text, requestid: text },
      ...{ result: oneOf(auditResults), status: number, errorcode: text, times: number, service: text },
    },
    sort: ["time", "actor", "action", "entity", "sourceip", "result", "status", "times", "service"],
  },
  Tenant: { q: { name: text, description: text, status: text, createdat: moment }, sort: ["name", "status", "createdat"] },
  Operation: { q: { id: number, kind: text, subject: text, status: text, createdat: moment }, sort: ["id", "createdat"] },
  OAuth2Client: {
    q: { clientid: text, name: text, description: text, ...changes },
    sort: ["clientid", "name", "description", ...Object.keys(changes), "lastusedon"],
  },
};

/** These operations take a query but answer no page; the query selects items of this schema. */
const itemsOfOthers: Readonly<Record<string, { spec: string; rest: string }>> = {
  "targets.exportCsv": { spec: "Target", rest: "Target" },
  "targets.summary": { spec: "Target", rest: "Target" },
  "audit.exportCsv": { spec: "AuditEntry", rest: "AuditEntry" },
  "targets.deleteByQuery": { spec: "Target", rest: "Target" },
  "targetGroups.assignByQuery": { spec: "Target", rest: "Target" },
  "targetGroups.assignToByQuery": { spec: "Target", rest: "Target" },
  "targetGroups.unassignByQuery": { spec: "Target", rest: "Target" },
  "actions.deleteMany": { spec: "Action", rest: "ActionRest" },
};

/** Answers the fields that an operation's `q` and `sort` may use; undefined if nothing is known of its items. */
export function fieldsOf(operation: Operation, document: OpenApi): ListFields | undefined {
  const other = itemsOfOthers[operation.operationId];
  const { schemas } = document.components;
  if (other !== undefined) return fieldsByItem[schemas["ActionRest"] === undefined ? other.spec : other.rest];
  const page = nameOf(operation.responses["200"]?.content?.["application/json"]?.schema?.$ref);
  const item = nameOf(schemas[page ?? ""]?.properties?.["content"]?.items?.$ref);
  return item === undefined ? undefined : fieldsByItem[item];
}

function nameOf(reference: string | undefined): string | undefined {
  return reference?.slice(reference.lastIndexOf("/") + 1);
}
