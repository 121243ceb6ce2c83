import type { ActionView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { device as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { ActionStatus, RolloutStatus } from "../ui/status.tsx";
import style from "./device.module.css";
import { titleOf } from "./device.state.ts";

interface OfAction {
  readonly action: ActionView & { detailStatus?: string };
}

/** The rollout that an update is part of, with what separates it from the next fact; nothing where there is none. */
export function OfRollout({ action }: OfAction) {
  if (action.rollout === undefined) return null;
  return (
    <>
      {t.ofRollout} <RolloutLink action={action} />
      {" · "}
    </>
  );
}

function RolloutLink({ action: { rollout, rolloutName } }: OfAction) {
  return (
    <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(rollout) }} search={{}}>
      {rolloutName ?? rollout}
    </Link>
  );
}

/** An update that its rollout has not begun yet: which group it waits in, and whether the rollout goes on. */
export function Waiting({ action }: OfAction) {
  const { rollout, rolloutGroup: group } = action;
  const mayRead = useLacking(r.rollouts.get) === undefined && rollout !== undefined;
  const { data } = useQuery({
    ...ask(r.rollouts.get, { params: { rolloutId: rollout ?? 0 } }),
    enabled: mayRead,
    refetchInterval: usePollMs(10_000),
  });
  return (
    <Card title={titleOf(action)} aside={<ActionStatus status={action.detailStatus ?? action.status} pill />}>
      <p>
        {t.waitsIn}{" "}
        {group !== undefined && (
          <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(rollout) }} search={{ tab: "devices", group: String(group.id) }}>
            {group.name}
          </Link>
        )}{" "}
        {t.waitsOf} <RolloutLink action={action} />{" "}
        {data !== undefined && (
          <>
            {"("}
            <RolloutStatus status={data.status} />
            {")"}
          </>
        )}
      </p>
      <p className={`${style["note"]} muted`}>{data?.status === "paused" ? t.waitsPaused : t.waitsText}</p>
    </Card>
  );
}
