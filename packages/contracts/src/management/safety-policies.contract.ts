import { z } from "zod";
import { audit, links } from "../link.ts";
import { bodiless, created, ok, routesOf } from "../route.ts";
import { noPolicy, safetyParts } from "../safety.ts";
import { arrayBody, optionalDescription, optionalName, pathId, requiredName, withoutNulls } from "../values.ts";

/** A tenant has at most so many safety policies. */
export const maxSafetyPolicies = 100;

/** A safety policy with a name, for rollouts, auto-assignments and assignments to refer to (contract beyond.md §1.1). */
export const safetyPolicyView = z
  .object({
    ...audit,
    id: z.int(),
    name: z.string(),
    description: z.string().optional(),
    /** As it was sent; what is absent follows the defaults. */
    safety: safetyParts,
    _links: links("self"),
  })
  .meta({ id: "SafetyPolicy" });
export type SafetyPolicyView = z.output<typeof safetyPolicyView>;

const isFree = (name: string | undefined) => name?.toLowerCase() !== noPolicy;
const reserved = `must not be '${noPolicy}', which stands for no policy`;

export const safetyPolicyCreate = z
  .object({ name: requiredName(64).refine(isFree, reserved), description: optionalDescription(), safety: safetyParts })
  .meta({ id: "SafetyPolicyCreate" });
export type SafetyPolicyCreate = z.output<typeof safetyPolicyCreate>;

const updateBody = withoutNulls(
  z.object({ name: optionalName(64).refine(isFree, reserved), description: optionalDescription(), safety: safetyParts.optional() }),
).meta({ id: "SafetyPolicyUpdate" });
export type SafetyPolicyUpdate = z.output<typeof updateBody>;

const one = z.object({ safetyPolicyId: pathId });
const common = { service: "management", interface: "management", source: "contract beyond.md §1.1" } as const;
const base = "/safetypolicies";
const path = `${base}/:safetyPolicyId`;

/** The operations on safety policies. Users of a policy froze a copy, so that it may change and go at any time, unless the setting `safety.default` names it. */
export const safetyPolicies = routesOf("safetyPolicies", common, {
  list: {
    method: "GET",
    path: base,
    success: ok,
    response: z.array(safetyPolicyView),
    permission: ["READ_ROLLOUT"],
    errors: [],
    summary: "List the safety policies of the tenant",
  },
  create: {
    method: "POST",
    path: base,
    body: arrayBody(safetyPolicyCreate, maxSafetyPolicies),
    success: created,
    response: z.array(safetyPolicyView),
    permission: ["TENANT_CONFIGURATION"],
    errors: ["constraintViolation", "entityAlreadyExists", "quotaTooManyEntries"],
    summary: "Create safety policies, all or none",
  },
  get: {
    method: "GET",
    path,
    params: one,
    success: ok,
    response: safetyPolicyView,
    permission: ["READ_ROLLOUT"],
    errors: ["entityNotFound"],
    summary: "Get a safety policy",
  },
  update: {
    method: "PUT",
    path,
    params: one,
    body: updateBody,
    success: ok,
    response: safetyPolicyView,
    permission: ["TENANT_CONFIGURATION"],
    errors: ["constraintViolation", "entityAlreadyExists", "entityNotFound", "entityChanged", "safetyPolicyIsDefault"],
    summary: "Change a safety policy; rollouts that exist keep what they have",
  },
  delete: {
    method: "DELETE",
    path,
    params: one,
    success: bodiless,
    permission: ["TENANT_CONFIGURATION"],
    errors: ["entityNotFound", "entityChanged", "safetyPolicyIsDefault"],
    summary: "Delete a safety policy; rollouts that exist keep what they have",
  },
});
