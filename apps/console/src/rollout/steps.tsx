import type { RolloutGroupView, RolloutView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ask, change, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { quoted } from "../fiql/complete.ts";
import { states, rollout as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { toast } from "../ui/toast.tsx";
import { Decide } from "./decide.tsx";
import { counts, offeredSteps, type Retry, refusedStep, retryName, retryOf, type Step, stillFailedQuery } from "./rollout.state.ts";

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
  /** Undefined as long as they were not read. */
  readonly groups: readonly RolloutGroupView[] | undefined;
}

/** The steps of a rollout: each says what it does to how many devices, and why it is not possible if it is not. */
export function Steps({ rollout, groups }: StepsProps) {
  const { retry, retried } = useRetry(rollout);
  return offeredSteps(rollout.status).map((step, index) => (
    <One key={step} step={step} rollout={rollout} groups={groups} first={index === 0} retry={retry} retried={retried} />
  ));
}

/** Whom a retry would be for, and whether there is one already, whose name a second one would have too. */
function useRetry({ id, name, status, totalTargetsPerStatus: totals }: RolloutView): { retry: Retry; retried: boolean } {
  const failed = totals?.error ?? 0;
  const mayCount = useLacking(r.actions.list) === undefined;
  const isRetryable = status === "finished" && failed > 0;
  const still = useQuery({
    ...ask(r.actions.list, { query: { q: stillFailedQuery(id), limit: 1 } }),
    enabled: isRetryable && mayCount,
    refetchInterval: usePollMs(15_000),
  });
  const same = useQuery({
    ...ask(r.rollouts.list, { query: { q: `name==${quoted(retryName(name))}`, limit: 1 } }),
    enabled: isRetryable,
    refetchInterval: usePollMs(15_000),
  });
  return { retry: retryOf(failed, still.data?.total), retried: (same.data?.total ?? 0) > 0 };
}

/** The two decisions on a rollout that waits for approval. */
export function Decisions({ rollout }: Pick<StepsProps, "rollout">) {
  return (["approve", "deny"] as const).map((step, index) => (
    <One key={step} step={step} rollout={rollout} groups={[]} first={index === 0} />
  ));
}

/** What a step does, in numbers. */
function effectOf(step: Step, totals: typeof noTotals, groups: StepsProps["groups"], retry: Retry): string {
  const { waiting, running, total } = counts(totals);
  const nextSize = groups?.find(({ status }) => status === "scheduled" || status === "ready")?.totalTargets ?? 0;
  const texts: Record<Step, string> = {
    start: t.does.start(groups === undefined ? undefined : (groups[0]?.totalTargets ?? total), total),
    pause: t.does.pause(waiting, running),
    resume: t.does.resume(waiting),
    next: t.does.next(nextSize),
    stop: t.does.stop(waiting, running),
    approve: t.does.approve,
    deny: t.does.deny,
    retry: t.does.retry(retry.failed, retry.moved),
    delete: t.does.delete(running),
  };
  return texts[step];
}

interface OneProps extends StepsProps {
  readonly step: Step;
  readonly first: boolean;
  readonly retry?: Retry;
  readonly retried?: boolean;
}

const noRetry: Retry = { failed: 0, moved: 0 };

function One({ step, rollout, groups, first, retry = noRetry, retried }: OneProps) {
  const navigate = useNavigate();
  const lacking = useLacking(operations[step]);
  const totals = rollout.totalTargetsPerStatus ?? noTotals;
  const refused = refusedStep(step, rollout, groups, totals.error, retried);
  const why = lacking !== undefined ? states.missing(lacking) : refused === undefined ? undefined : t.cannot[refused];
  const destroys = step === "stop" || step === "delete";
  const { waiting, running } = counts(totals);
  // Where every failed device has moved on, nobody waits for a retry.
  const isWanted = first && (step !== "retry" || (refused === undefined && retry.moved < retry.failed));
  const typed = destroys && waiting + running > manyDevices ? rollout.name : undefined;
  const run = async () => {
    const params = { rolloutId: rollout.id };
    if (step === "retry") {
      const { id } = await change(r.rollouts.retry, { params });
      await navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: String(id) }, search: {} });
    } else await change(operations[step], { params });
    toast(t.asked[step]);
    if (step === "delete") await navigate({ to: "/rollouts", search: {} });
    await invalidate("rollouts");
  };
  if (step === "approve" || step === "deny") return <Decide step={step} rolloutId={rollout.id} why={why} first={first} />;
  return (
    <Confirm
      look={destroys ? "danger" : isWanted ? "primary" : undefined}
      why={why}
      trigger={t.steps[step]}
      title={t.ask[step]}
      text={effectOf(step, totals, groups, retry)}
      button={t.steps[step]}
      typed={typed}
      run={run}
    />
  );
}
