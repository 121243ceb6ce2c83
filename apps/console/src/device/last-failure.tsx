import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleX } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { device as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Note, Skeleton } from "../ui/states.tsx";
import { ActionStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./device.module.css";
import { titleOf } from "./device.state.ts";
import { RetryStep, SafetyFacts } from "./proof-steps.tsx";
import { OfRollout } from "./waiting.tsx";

/** How the last update of a device failed, in its words, and the way to try it again. */
export function LastFailure({ targetId }: { targetId: string }) {
  const { data, error, refetch } = useQuery({
    ...ask(r.targets.listActions, { params: { targetId }, query: { q: "detailstatus==error", limit: 1, sort: "id:DESC" } }),
    refetchInterval: usePollMs(8_000),
  });
  if (data === undefined) return error === null ? <Skeleton lines={4} /> : <Failure error={error} retry={() => void refetch()} />;
  const [action] = data.content;
  if (action === undefined) {
    return (
      <Card>
        <Empty title={t.failed} text={t.failedForgotten} icon={CircleX} />
      </Card>
    );
  }
  const { lastMessage, lastStatusCode: code } = action;
  return (
    <Card title={t.failedTitle(titleOf(action))} aside={<ActionStatus status="error" pill />}>
      <div className="muted">
        <OfRollout action={action} />
        <Time at={action.lastModifiedAt} />
        {" · "}
        <Link to="/devices/$controllerId" params={{ controllerId: targetId }} search={{ tab: "history" }}>
          {t.failedHistory}
        </Link>
      </div>
      <div className={style["said"]}>
        <Note tone="bad">
          {lastMessage === undefined || lastMessage === "" ? t.failedSilently : lastMessage}
          {code !== undefined && <span className="muted mono"> {t.code(code)}</span>}
        </Note>
      </div>
      <SafetyFacts action={action} targetId={targetId} />
      <div className={style["buttons"]}>
        <RetryStep action={action} targetId={targetId} />
      </div>
    </Card>
  );
}
