import type { RolloutGroupView, RolloutView } from "@harrier/contracts";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, rollout as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { toast } from "../ui/toast.tsx";
import { counts, offeredSteps, refusedStep, type Step } from "./rollout.state.ts";

const operations = {
  start: r.rollouts.start,
  pause: r.rollouts.pause,
  resume: r.rollouts.resume,
  next: r.rollouts.triggerNextGroup,
  stop: r.rollouts.stop,
  approve: r.rollouts.approve,
  deny: r.rollouts.deny,
  retry: r.rollouts.retry,
  delete: r.rollouts.delete,
} as const;

/** Beyond so many open devices the name must be typed before they are stopped. */
const manyDevices = 1_000;
const noTotals = { finished: 0, error: 0, running: 0, scheduled: 0, notstarted: 0, cancelled: 0 };

interface StepsProps {
  readonly rollout: RolloutView;
  readonly groups: readonly RolloutGroupView[];
}

/** The steps of a rollout: each says what it does to how many devices, and why it is not possible if it is not. */
export function Steps({ rollout, groups }: StepsProps) {
  return offeredSteps(rollout.status).map((step, index) => (
    <One key={step} step={step} rollout={rollout} groups={groups} first={index === 0} />
  ));
}

/** The two decisions on a rollout that waits for approval. */
export function Decisions({ rollout }: Pick<StepsProps, "rollout">) {
  return (["approve", "deny"] as const).map((step, index) => (
    <One key={step} step={step} rollout={rollout} groups={[]} first={index === 0} />
  ));
}

/** What a step does, in numbers. */
function effectOf(step: Step, totals: typeof noTotals, groups: readonly RolloutGroupView[]): string {
  const { waiting, running, total } = counts(totals);
  const nextSize = groups.find(({ status }) => status === "scheduled" || status === "ready")?.totalTargets ?? 0;
  const texts: Record<Step, string> = {
    start: t.does.start(groups[0]?.totalTargets ?? total, total),
    pause: t.does.pause(waiting, running),
    resume: t.does.resume(waiting),
    next: t.does.next(nextSize),
    stop: t.does.stop(waiting, running),
    approve: t.does.approve,
    deny: t.does.deny,
    retry: t.does.retry(totals.error),
    delete: t.does.delete(running),
  };
  return texts[step];
}

function One({ step, rollout, groups, first }: StepsProps & { step: Step; first: boolean }) {
  const [remark, setRemark] = useState("");
  const navigate = useNavigate();
  const lacking = useLacking(operations[step]);
  const totals = rollout.totalTargetsPerStatus ?? noTotals;
  const refused = refusedStep(step, rollout, groups, totals.error);
  const why = lacking !== undefined ? states.missing(lacking) : refused === undefined ? undefined : t.cannot[refused];
  const decides = step === "approve" || step === "deny";
  const destroys = step === "stop" || step === "delete" || step === "deny";
  const { waiting, running } = counts(totals);
  const typed = destroys && !decides && waiting + running > manyDevices ? rollout.name : undefined;
  const run = async () => {
    const params = { rolloutId: rollout.id };
    if (decides) await change(operations[step], { params, query: remark === "" ? {} : { remark } });
    else if (step === "retry") {
      const { id } = await change(r.rollouts.retry, { params });
      await navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: String(id) }, search: {} });
    } else await change(operations[step], { params });
    toast(t.asked(t.steps[step]));
    if (step === "delete") await navigate({ to: "/rollouts", search: {} });
    await invalidate("rollouts");
  };
  const text = effectOf(step, totals, groups);
  return (
    <Confirm
      look={destroys ? "danger" : first ? "primary" : undefined}
      why={why}
      trigger={t.steps[step]}
      title={t.ask[step]}
      text={decides ? <Remark text={text} value={remark} onChange={setRemark} /> : text}
      button={t.steps[step]}
      typed={typed}
      run={run}
    />
  );
}

function Remark({ text, value, onChange }: { text: string; value: string; onChange: (text: string) => void }) {
  return (
    <>
      <p>{text}</p>
      <Field label={t.remark} value={value} onChange={onChange} maxLength={255} />
    </>
  );
}
