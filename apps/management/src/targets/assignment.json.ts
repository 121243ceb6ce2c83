import type { AssignmentResult } from "@harrier/contracts";
import { encoded, type View } from "@harrier/query";
import type { AssignSetResponse } from "@harrier/rpc";

/** Renders the result of an assignment (spec 001 §4.1.2); unknown targets are in none of the numbers. */
export function assignmentJson({ base }: View, answer: AssignSetResponse): AssignmentResult {
  const { alreadyAssigned, actions } = answer;
  return {
    alreadyAssigned,
    assigned: actions.length,
    total: alreadyAssigned + actions.length,
    assignedActions: actions.map(({ id, controllerId }) => ({
      id,
      _links: { self: { href: `${base}/targets/${encoded(controllerId)}/actions/${id}` } },
    })),
  };
}
