import type { RolloutGroupView, RolloutView } from "@harrier/contracts";
import { useNavigate } from "@tanstack/react-router";
import { change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, rollout as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { toast } from "../ui/toast.tsx";
import { Decide } from "./decide.tsx";
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
  const navigate = useNavigate();
  const lacking = useLacking(operations[step]);
  const totals = rollout.totalTargetsPerStatus ?? noTotals;
  const refused = refusedStep(step, rollout, groups, totals.error);
  const why = lacking !== undefined ? states.missing(lacking) : refused === undefined ? undefined : t.cannot[refused];
  const destroys = step === "stop" || step === "delete";
  const { waiting, running } = counts(totals);
  const typed = destroys && waiting + running > manyDevices ? rollout.name : undefined;
  const run = async () => {
    const params = { rolloutId: rollout.id };
    if (step === "retry") {
      const { id } = await change(r.rollouts.retry, { params });
      await navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: String(id) }, search: {} });
    } else await change(operations[step], { params });
    toast(t.asked(t.steps[step]));
    if (step === "delete") await navigate({ to: "/rollouts", search: {} });
    await invalidate("rollouts");
  };
  if (step === "approve" || step === "deny") return <Decide step={step} rolloutId={rollout.id} why={why} first={first} />;
  return (
    <Confirm
      look={destroys ? "danger" : first ? "primary" : undefined}
      why={why}
      trigger={t.steps[step]}
      title={t.ask[step]}
      text={effectOf(step, totals, groups)}
      button={t.steps[step]}
      typed={typed}
      run={run}
    />
  );
}
