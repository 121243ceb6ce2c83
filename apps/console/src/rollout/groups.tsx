import type { RolloutGroupView } from "@harrier/contracts";
import { rollout as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import { Skeleton } from "../ui/states.tsx";
import { Bar, RolloutStatus } from "../ui/status.tsx";
import style from "./rollout.module.css";

/** The groups beside each other, each with its thresholds drawn where they are. */
export function Groups({ groups }: { groups: readonly RolloutGroupView[] }) {
  if (groups.length === 0) return <Skeleton lines={3} />;
  return (
    <div className={style["groups"]}>
      {groups.map((group) => (
        <Group key={group.id} group={group} />
      ))}
    </div>
  );
}

const short = (value: number | undefined) => (value === undefined ? undefined : String(+value.toFixed(1)));

function Group({ group }: { group: RolloutGroupView }) {
  const success = Number(group.successCondition.expression);
  const failed = short(group.errorPercent);
  return (
    <section className={style["group"]} data-now={group.status === "running"} aria-label={t.groupBar(group.name)}>
      <div className={style["groupHead"]}>
        <h2 className="cut">{group.name}</h2>
        <RolloutStatus status={group.status} />
      </div>
      <div className={style["meter"]}>
        {group.totalTargetsPerStatus !== undefined && <Bar totals={group.totalTargetsPerStatus} label={t.groupBar(group.name)} large />}
        {success < 100 && group.totalTargets > 0 && (
          <span className={style["limit"]} style={{ left: `${success}%` }} title={t.success(String(success))} />
        )}
      </div>
      <div className={style["groupFoot"]}>
        <span className="num">
          {group.totalTargets === 0 ? t.noDevices : `${count(group.totalTargetsPerStatus?.finished ?? 0)} / ${count(group.totalTargets)}`}
          {group.dynamic && ` · ${t.dynamic}`}
        </span>
        <span className="muted num">{failed !== undefined && failed !== "0" && t.failed(failed)}</span>
      </div>
      <div className={`${style["groupFoot"]} muted`}>
        <span>{group.successAction.action === "PAUSE" ? t.pausesAfter : t.success(group.successCondition.expression)}</span>
        <span>{t.error(group.errorCondition.expression)}</span>
      </div>
    </section>
  );
}
