import type { RolloutGroupView } from "@harrier/contracts";
import { Link } from "@tanstack/react-router";
import { rollout as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import { Skeleton } from "../ui/states.tsx";
import { Bar, RolloutStatus } from "../ui/status.tsx";
import { Beside, Counted } from "./counted.tsx";
import style from "./rollout.module.css";
import { bucketCondition } from "./rollout.state.ts";

/** The groups beside each other, each with its thresholds drawn where they are. */
export function Groups({ groups, type }: { groups: readonly RolloutGroupView[]; type: string }) {
  if (groups.length === 0) return <Skeleton lines={3} />;
  return (
    <div className={style["groups"]}>
      {groups.map((group) => (
        <Group key={group.id} group={group} type={type} />
      ))}
    </div>
  );
}

const queryOf = ({ id }: RolloutGroupView, bucket: "finished" | "error", type: string) =>
  `rolloutgroup.id==${id};${bucketCondition(bucket, type)}`;

/** How many have it, of how many. */
function Sizes({ group, type }: { group: RolloutGroupView; type: string }) {
  if (group.totalTargets === 0) return t.noDevices;
  const finished = count(group.totalTargetsPerStatus?.finished ?? 0);
  return (
    <>
      <Counted q={queryOf(group, "finished", type)} label={t.finishedIn(finished, group.name)}>
        {finished}
      </Counted>
      {" / "}
      <Link
        from="/rollouts/$rolloutId"
        search={{ tab: "devices", group: String(group.id) }}
        className={style["counted"]}
        aria-label={t.allIn(count(group.totalTargets), group.name)}
      >
        {count(group.totalTargets)}
      </Link>
    </>
  );
}

const short = (value: number | undefined) => (value === undefined ? undefined : String(+value.toFixed(1)));

function Group({ group, type }: { group: RolloutGroupView; type: string }) {
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
          <Sizes group={group} type={type} />
          {group.dynamic && ` · ${t.dynamic}`}
        </span>
        <span className="muted num">
          {failed !== undefined && failed !== "0" && <Counted q={queryOf(group, "error", type)}>{t.failed(failed)}</Counted>}
        </span>
      </div>
      <Beside counts={group.safetyCounts} of={`rolloutgroup.id==${group.id}`} />
      <div className={`${style["groupFoot"]} muted`}>
        <span>{group.successAction.action === "PAUSE" ? t.pausesAfter : t.success(group.successCondition.expression)}</span>
        <span>{t.error(group.errorCondition.expression)}</span>
      </div>
    </section>
  );
}
