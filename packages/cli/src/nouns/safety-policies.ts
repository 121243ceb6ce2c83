import { usage } from "../exit.ts";
import { auditColumns } from "../output/columns.ts";
import { r } from "../routes.ts";
import { type Entity, type Member, noun, verbsOf } from "./entity.ts";

const safety: Member = {
  flags: "--safety <json>",
  text: 'what it holds: {"proof": {}, "limits": {"installingSeconds": 3600}}',
  member: "safety",
  read: (value) => {
    try {
      return JSON.parse(String(value)) as unknown;
    } catch (error) {
      throw usage(`--safety is no JSON: ${(error as Error).message}`);
    }
  },
};
const description: Member = { flags: "--description <text>", text: "what it is for", member: "description" };

const entity: Entity = {
  word: "safety policy",
  list: r.safetyPolicies.list,
  whole: true,
  param: "safetyPolicyId",
  columns: [
    { head: "ID", at: "id" },
    { head: "NAME", at: "name" },
    { head: "DESCRIPTION", at: "description" },
    { head: "SAFETY", at: "safety" },
    ...auditColumns,
  ],
  get: r.safetyPolicies.get,
  create: r.safetyPolicies.create,
  many: true,
  creates: [{ ...safety, required: true }, description],
  update: r.safetyPolicies.update,
  updates: [safety, description, { flags: "--name <name>", text: "another name", member: "name" }],
  delete: r.safetyPolicies.delete,
};

export const safetyPolicies = noun(
  ["safetypolicy", "safetypolicies", "policy", "policies"],
  "Safety policies: how a success is proven, and how long a device may take (rollout create --policy)",
  verbsOf(entity),
);
