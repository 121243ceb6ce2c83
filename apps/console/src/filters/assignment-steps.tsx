import type { AutoAssignmentView } from "@harrier/contracts";
import { change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, savedFilters as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { ListBar } from "../ui/listing.tsx";
import { Remove } from "../ui/remove.tsx";
import { DecideAssignment } from "./decide.tsx";
import { stepsOf } from "./filters.state.ts";

const operations = {
  start: r.autoAssignments.start,
  pause: r.autoAssignments.pause,
  resume: r.autoAssignments.resume,
} as const;

interface StepsProps {
  readonly of: Pick<AutoAssignmentView, "id" | "name" | "status">;
  readonly decisionsOnly?: boolean;
}

/** What can be done with an auto-assignment in its state. */
export function AssignmentSteps({ of, decisionsOnly }: StepsProps) {
  const remove = async () => {
    await change(r.autoAssignments.delete, { params: { autoAssignmentId: of.id } });
    await invalidate("targetFilters", "autoAssignments");
  };
  return (
    <ListBar>
      {stepsOf(of.status).map((step) =>
        step === "approve" || step === "deny" ? (
          <DecideAssignment key={step} step={step} id={of.id} name={of.name} />
        ) : (
          <Step key={step} step={step} of={of} />
        ),
      )}
      {!decisionsOnly && <Remove name={of.name} text={t.assignmentDelete} row={r.autoAssignments.delete} run={remove} />}
    </ListBar>
  );
}

function Step({ step, of: { id, name } }: StepsProps & { step: keyof typeof operations }) {
  const lacking = useLacking(operations[step]);
  const word = t.steps[step] ?? step;
  const run = async () => {
    await change(operations[step], { params: { autoAssignmentId: id } });
    await invalidate("targetFilters", "autoAssignments");
  };
  return (
    <Confirm
      small
      why={lacking && states.missing(lacking)}
      trigger={word}
      title={t.stepTitle(word, name)}
      text={t.does[step]}
      button={word}
      run={run}
    />
  );
}
