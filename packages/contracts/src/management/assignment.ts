import { z } from "zod";
import { maxAssignments } from "../arrays.ts";
import { forceTypeNames } from "../codes.ts";
import { links } from "../link.ts";
import { safetyBody } from "../safety.ts";
import { arrayBody, bodyId, epochMs, flag, lookedUpText, weight } from "../values.ts";

const emptyIsAbsent = (text: string | undefined) => (text === undefined || text === "" ? undefined : text);
const windowPart = z.string().trim().optional().transform(emptyIsAbsent);

/** The window in which an update may be installed; `parseMaintenanceWindow` checks its parts together (contract management.md §5.6). */
export const maintenanceWindowBody = z
  .object({ schedule: windowPart, duration: windowPart, timezone: windowPart })
  .meta({ id: "MaintenanceWindowRequest" });

const itemMembers = {
  type: z.enum(forceTypeNames).default("forced"),
  forcetime: epochMs.prefault(0),
  weight: weight.optional(),
  maintenanceWindow: maintenanceWindowBody.optional(),
  confirmationRequired: flag().optional(),
  safety: safetyBody.optional(),
};

/** The assignment of a set to targets: `id` is a controllerId (spec 001 §4.1.1). */
export const assignTargetsBody = arrayBody(z.object({ id: lookedUpText, ...itemMembers }).meta({ id: "TargetAssignment" }), maxAssignments);

/** The assignment of sets to a target: `id` is a set (spec 001 §4.1.1). */
export const assignSetsBody = arrayBody(z.object({ id: bodyId, ...itemMembers }).meta({ id: "DistributionSetAssignment" }), maxAssignments);

export type TargetAssignment = z.output<typeof assignTargetsBody>[number];
export type DistributionSetAssignment = z.output<typeof assignSetsBody>[number];

/** The result of an assignment (spec 001 §4.1.2): assigned = number of actions, total = assigned + alreadyAssigned. */
export const assignmentResult = z
  .object({
    alreadyAssigned: z.int(),
    assigned: z.int(),
    total: z.int(),
    assignedActions: z.array(z.object({ id: z.int(), _links: links("self") })),
  })
  .meta({ id: "AssignmentResult" });
export type AssignmentResult = z.output<typeof assignmentResult>;
