import type { AutoAssignmentView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, askSeen, change, problemOf, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { dialogs, states, savedFilters as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { useSeen } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Facts } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";

const operations = { approve: r.autoAssignments.approve, deny: r.autoAssignments.deny } as const;

/** A decision about an auto-assignment, for the revision that is shown alone. */
export function DecideAssignment({ step, id, name }: { step: "approve" | "deny"; id: number; name: string }) {
  const [remark, setRemark] = useState("");
  const lacking = useLacking(operations[step]);
  const params = { autoAssignmentId: id };
  const { data, error, isFetching, refetch } = useSeen(askSeen(r.autoAssignments.get, { params }), false);
  const run = async () => {
    await change(operations[step], { params, query: remark === "" ? {} : { remark }, ifMatch: data?.tag });
    await invalidate("targetFilters", "autoAssignments");
  };
  const isRead = data !== undefined && !isFetching && error === null;
  const word = t.steps[step] ?? step;
  return (
    <Confirm
      small
      look={step === "deny" ? "danger" : undefined}
      why={lacking && states.missing(lacking)}
      trigger={word}
      title={t.stepTitle(word, name)}
      text={
        <>
          {isRead ? <What of={data.body} /> : error === null ? <Skeleton lines={3} /> : <Failure error={error} />}
          <p>{t.does[step]}</p>
          <Field label={t.remark} value={remark} onChange={setRemark} maxLength={limits.remark} />
        </>
      }
      button={word}
      run={run}
      onOpen={(open) => open && void refetch()}
      missing={isRead ? undefined : error === null ? dialogs.reading : dialogs.notRead}
      again={() => refetch({ throwOnError: true })}
    />
  );
}

function What({ of: { distributionSetId, targetFilterQuery: q, actionType, safety } }: { of: AutoAssignmentView }) {
  const mayRead = useLacking(r.distributionSets.list) === undefined;
  const sets = useQuery({
    ...ask(r.distributionSets.list, { query: { q: `id==${distributionSetId}`, limit: 1 } }),
    enabled: mayRead,
  });
  const matching = useQuery(ask(r.targets.list, { query: { q, limit: 1 } }));
  const set = sets.data?.content[0];
  return (
    <Facts
      of={[
        [t.set, set ? t.setOf(set.name, set.version) : String(distributionSetId)],
        [t.query, <code key="q">{q}</code>],
        [
          t.matching,
          matching.error
            ? t.notCounted(problemOf(matching.error).text)
            : matching.data?.total !== undefined && t.decides(matching.data.total),
        ],
        [t.give, t.forces[actionType] ?? actionType],
        [t.policy, safety && (safety.policy ?? t.ownPolicy)],
      ]}
    />
  );
}
