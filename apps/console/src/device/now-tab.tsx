import type { ActionView, TargetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ArrowRight, CircleCheck } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { device as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Note, Pending, Refusal, Skeleton } from "../ui/states.tsx";
import { ActionStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { About } from "./about.tsx";
import { ActionSteps } from "./action-steps.tsx";
import style from "./device.module.css";
import { beforeEnd, partsOf, reached, stages, stageTimes } from "./device.state.ts";
import { LastFailure } from "./last-failure.tsx";
import { SafetyFacts } from "./proof-steps.tsx";
import { OfRollout, Waiting } from "./waiting.tsx";

/** What the device runs, what it shall run, and how far it is. */
export function NowTab({ target }: { target: TargetView }) {
  const params = { targetId: target.controllerId };
  const { data, error, refetch } = useQuery({
    ...ask(r.targets.listActions, { params, query: { q: beforeEnd, limit: 20, sort: "weight:DESC,id:ASC" } }),
    refetchInterval: usePollMs(4_000),
  });
  const { open, waiting } = partsOf(data?.content ?? []);
  const nothing = data !== undefined && open.length === 0;
  return (
    <div className={style["columns"]}>
      <div className={style["stack"]}>
        {target.pollStatus === undefined && (
          <Note tone="warn">
            <b>{t.pollNever}</b>
            {" · "}
            {t.pollNeverText}
          </Note>
        )}
        <Versions targetId={target.controllerId} />
        {data === undefined && (error === null ? <Skeleton lines={4} /> : <Failure error={error} retry={() => void refetch()} />)}
        {nothing && target.updateStatus === "error" && <LastFailure targetId={target.controllerId} />}
        {nothing && target.updateStatus !== "error" && waiting.length === 0 && (
          <Card>
            <Empty title={t.nothingOpen} text={t.nothingOpenText} icon={CircleCheck} />
          </Card>
        )}
        {open.map((action) => (
          <OpenAction key={action.id} action={action} targetId={target.controllerId} />
        ))}
        {waiting.map((action) => (
          <Waiting key={action.id} action={action} />
        ))}
      </div>
      <About target={target} />
    </div>
  );
}

function Versions({ targetId }: { targetId: string }) {
  const pollMs = usePollMs(6_000);
  const installed = useQuery({ ...ask(r.targets.installedSet, { params: { targetId } }), refetchInterval: pollMs });
  const assigned = useQuery({ ...ask(r.targets.assignedSet, { params: { targetId } }), refetchInterval: pollMs });
  const isRead = installed.data !== undefined && assigned.data !== undefined;
  const error = installed.error ?? assigned.error;
  if (!isRead && error !== null) {
    const again = () => void Promise.all([installed.refetch(), assigned.refetch()]);
    return (
      <Card>
        <Failure error={error} retry={again} />
      </Card>
    );
  }
  const differs = isRead && assigned.data !== null && assigned.data.id !== installed.data?.id;
  return (
    <Card>
      <div className={style["versions"]}>
        <Version label={t.installed} set={isRead ? installed.data : undefined} />
        {differs && (
          <>
            <ArrowRight size={18} aria-hidden />
            <Version label={t.assigned} set={assigned.data} />
          </>
        )}
      </div>
    </Card>
  );
}

/** A set, none, or one that is not known yet. */
function Version({ label, set }: { label: string; set: { name: string; version: string } | null | undefined }) {
  return (
    <div className={style["version"]}>
      <span>{label}</span>
      <b>{set === undefined ? <Pending /> : set === null ? t.nothing : `${set.name} ${set.version}`}</b>
    </div>
  );
}

/** One open update in its stages, with what the device said last. */
function OpenAction({ action, targetId }: { action: ActionView & { detailStatus?: string }; targetId: string }) {
  const params = { targetId, actionId: action.id };
  const { data, error: unread } = useQuery({
    ...ask(r.targets.actionStatus, { params, query: { limit: 50, sort: "id:DESC" } }),
    refetchInterval: usePollMs(4_000),
  });
  const times = stageTimes(action.createdAt ?? 0, data?.content ?? []);
  const far = stages.indexOf(reached(times));
  const status = action.detailStatus ?? action.status;
  const set = action.distributionSet;
  return (
    <Card title={set === undefined ? t.open : `${set.name} ${set.version}`} aside={<ActionStatus status={status} pill />}>
      <div className="muted">
        <OfRollout action={action} />
        {t.forceTypes[action.forceType]}
        {" · "}
        {t.since.toLowerCase()} <Time at={action.createdAt} />
      </div>
      {data === undefined && unread !== null && <Refusal error={unread} />}
      <ol className={style["stages"]}>
        {stages.map((stage, index) => (
          <li
            key={stage}
            className={style["stage"]}
            data-state={index <= far ? "done" : "open"}
            aria-current={index === far ? "step" : undefined}
          >
            {t.steps[stage]}
            <span className="muted">
              <Time at={times[stage]} />
            </span>
          </li>
        ))}
      </ol>
      <SafetyFacts action={action} targetId={targetId} />
      <ActionSteps action={action} targetId={targetId} status={status} />
      <Entries entries={data?.content.slice(0, 5) ?? []} />
    </Card>
  );
}

interface EntryView {
  readonly id: number;
  readonly type: string;
  readonly reportedAt: number;
  readonly messages: readonly string[];
  readonly code?: number | undefined;
}

/** What was said about an action, the newest first. */
export function Entries({ entries }: { entries: readonly EntryView[] }) {
  return (
    <div className={style["entries"]}>
      {entries.map(({ id, type, reportedAt, messages, code }) => (
        <div key={id} className={style["entry"]}>
          <ActionStatus status={type} />
          <div>
            {messages.map((text) => (
              <p key={text}>{text}</p>
            ))}
            {code !== undefined && <p className="muted mono">{t.code(code)}</p>}
          </div>
          <span className="muted">
            <Time at={reportedAt} />
          </span>
        </div>
      ))}
    </div>
  );
}
