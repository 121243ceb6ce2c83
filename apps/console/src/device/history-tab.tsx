import type { ActionView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useState } from "react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { device as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { ActionStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./device.module.css";
import { titleOf } from "./device.state.ts";
import { Entries } from "./now-tab.tsx";
import { ProofSteps, RetryStep, SafetyFacts } from "./proof-steps.tsx";
import { OfRollout } from "./waiting.tsx";

/** So many updates are shown; a device has few. */
const limit = 100;

/** Every update that the device was offered, each with all that was said about it. */
export function HistoryTab({ targetId }: { targetId: string }) {
  const { data, error, refetch } = useQuery({
    ...ask(r.targets.listActions, { params: { targetId }, query: { limit, sort: "id:DESC" } }),
    refetchInterval: usePollMs(8_000),
    placeholderData: keepPreviousData,
  });
  if (data === undefined) return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.content.length === 0) {
    return (
      <Card>
        <Empty title={t.historyEmpty} text={t.historyEmptyText} icon={History} />
      </Card>
    );
  }
  return (
    <Card plain>
      {data.content.map((action) => (
        <One key={action.id} action={action} targetId={targetId} />
      ))}
    </Card>
  );
}

interface OneProps {
  readonly action: Extract<ActionView, { readonly detailStatus: string }>;
  readonly targetId: string;
}

function One({ action, targetId }: OneProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className={style["action"]} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={style["summary"]}>
        <ActionStatus status={action.detailStatus} />
        <b>{titleOf(action)}</b>
        {action.rollout !== undefined && <span className="muted cut">{t.inRollout(action.rolloutName ?? String(action.rollout))}</span>}
        <span className={`${style["grow"]} muted cut`}>{action.lastMessage}</span>
        <span className="muted">
          <Time at={action.createdAt} />
        </span>
      </summary>
      {open && <Said action={action} targetId={targetId} />}
    </details>
  );
}

function Said({ action, targetId }: OneProps) {
  const actionId = action.id;
  const { data, error, refetch } = useQuery(
    ask(r.targets.actionStatus, { params: { targetId, actionId }, query: { limit: 200, sort: "id:DESC" } }),
  );
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {action.rollout !== undefined && (
        <div className="muted">
          <OfRollout action={action} />
          {t.forceTypes[action.forceType]}
        </div>
      )}
      <SafetyFacts action={action} targetId={targetId} />
      <div className={style["buttons"]}>
        {!action.active && <ProofSteps action={action} targetId={targetId} />}
        <RetryStep action={action} targetId={targetId} />
      </div>
      <Entries entries={data.content} />
    </>
  );
}
