import type { RolloutView } from "@harrier/contracts";
import { useState } from "react";
import { askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { Difference } from "../approvals/fresh.tsx";
import { dialogs, rollout as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { useSeen } from "../ui/edited.tsx";
import { Field } from "../ui/field.tsx";
import { count } from "../ui/format.ts";
import { limits } from "../ui/limits.ts";
import { Facts } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";

const operations = { approve: r.rollouts.approve, deny: r.rollouts.deny } as const;

interface DecideProps {
  readonly step: "approve" | "deny";
  readonly rolloutId: number;
  readonly why: string | undefined;
  readonly first: boolean;
}

/** A decision about a rollout: what is decided is read when the question is asked, and the answer holds for that revision alone. */
export function Decide({ step, rolloutId, why, first }: DecideProps) {
  const [remark, setRemark] = useState("");
  const params = { rolloutId };
  const { data, error, isFetching, refetch } = useSeen(askSeen(r.rollouts.get, { params }), false);
  const run = async () => {
    await change(operations[step], { params, query: remark === "" ? {} : { remark }, ifMatch: data?.tag });
    toast(t.asked[step]);
    await invalidate("rollouts");
  };
  const isRead = data !== undefined && !isFetching && error === null;
  return (
    <Confirm
      look={step === "deny" ? "danger" : first ? "primary" : undefined}
      why={why}
      trigger={t.steps[step]}
      title={t.ask[step]}
      text={
        <>
          {isRead ? <What rollout={data.body} /> : error === null ? <Skeleton lines={3} /> : <Failure error={error} />}
          <p>{t.does[step]}</p>
          <Field label={t.remark} value={remark} onChange={setRemark} maxLength={limits.remark} />
        </>
      }
      button={t.steps[step]}
      run={run}
      onOpen={(open) => open && void refetch()}
      missing={isRead ? undefined : error === null ? dialogs.reading : dialogs.notRead}
      again={() => refetch({ throwOnError: true })}
    />
  );
}

function What({ rollout }: { rollout: RolloutView }) {
  const { name, distributionSet: set, targetFilterQuery, totalTargets, type } = rollout;
  return (
    <>
      <Facts
        of={[
          [t.name, name],
          [t.set, set && `${set.name} ${set.version}`],
          [t.filter, <code key="q">{targetFilterQuery}</code>],
          [t.size, count(totalTargets)],
          [t.type, t.types[type]],
        ]}
      />
      <Difference rollout={rollout} />
    </>
  );
}
