import type { ActionView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, device as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { Facts } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

interface OfAction {
  readonly action: ActionView;
  readonly targetId: string;
}

const then = (done: Promise<unknown>) => done.then(() => invalidate("targets", "actions"));

/** What the safety policy of an update waits for, and what came of it; lists have less of it than the update itself. */
export function SafetyFacts({ action, targetId }: OfAction) {
  const params = { targetId, actionId: action.id };
  const listed = action.safety;
  const { data } = useQuery({ ...ask(r.targets.getAction, { params }), enabled: listed !== undefined, refetchInterval: usePollMs(4_000) });
  const safety = data?.safety ?? listed;
  if (safety === undefined) return null;
  const { stage, proof, dueAt, silentSince, reason, attempt, nextAttemptAt } = safety;
  return (
    <Facts
      of={[
        [t.safety.stage, stage && (t.safety.stages[stage] ?? stage)],
        [t.safety.silent, silentSince && <Time at={silentSince} />],
        [t.safety.due, dueAt && <Time at={dueAt} />],
        [t.safety.proof, proof && (t.safety.proofs[proof.state] ?? proof.state)],
        [t.safety.reason, reason && (t.safety.reasons[reason] ?? reason)],
        [t.safety.attempt, attempt > 1 ? String(attempt) : undefined],
        [t.safety.next, nextAttemptAt && <Time at={nextAttemptAt} />],
      ]}
    />
  );
}

/** Decides in the place of the evidence whether a success is one, with the reason for the history. */
export function ProofSteps({ action, targetId }: OfAction) {
  const isAwaited = action.safety?.proof?.state === "proving";
  // A proven one can still be refuted while it is watched.
  const isWatched = action.safety?.stage === "watched";
  return (
    <>
      {isAwaited && <Verdict verdict="proven" action={action} targetId={targetId} />}
      {(isAwaited || isWatched) && <Verdict verdict="refuted" action={action} targetId={targetId} />}
    </>
  );
}

function Verdict({ verdict, action, targetId }: OfAction & { verdict: "proven" | "refuted" }) {
  const [remark, setRemark] = useState("");
  const lacking = useLacking(r.targets.proveAction);
  const text = remark.trim();
  return (
    <Confirm
      small
      look={verdict === "refuted" ? "danger" : undefined}
      why={lacking && states.missing(lacking)}
      trigger={t.safety.verdicts[verdict]}
      title={t.safety.verdicts[verdict]}
      text={
        <>
          <p>{t.safety.verdictTexts[verdict]}</p>
          <Field label={t.safety.remark} value={remark} onChange={setRemark} maxLength={limits.remark} />
        </>
      }
      button={t.safety.verdicts[verdict]}
      missing={text === "" ? t.safety.remarkFirst : undefined}
      run={() => then(change(r.targets.proveAction, { params: { targetId, actionId: action.id }, body: { verdict, remark: text } }))}
    />
  );
}

/** Tries a failed update once more. */
export function RetryStep({ action, targetId }: OfAction) {
  const lacking = useLacking(r.targets.retryAction);
  const params = { targetId, actionId: action.id };
  const { data } = useQuery(ask(r.targets.getAction, { params }));
  if (data?.detailStatus !== "error" || data.active || data.safety?.retriedBy !== undefined) return null;
  return (
    <Confirm
      small
      why={lacking && states.missing(lacking)}
      trigger={t.safety.retry}
      title={t.safety.retry}
      text={t.safety.retryText}
      button={t.safety.retry}
      run={() => then(change(r.targets.retryAction, { params }))}
    />
  );
}
