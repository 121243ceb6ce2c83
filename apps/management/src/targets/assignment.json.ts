import type { AssignmentResult } from "@harrier/contracts";
import type { AssignSetResponse } from "@harrier/rpc";
import { encoded, type View } from "../lists/json.ts";

/** spec 001 §4.1.2: unknown targets are in none of the numbers. */
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
