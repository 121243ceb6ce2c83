import type { RolloutView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { buckets, rollout as t } from "../text/en.ts";
import { count, span } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { bucketOrder } from "../ui/signs.ts";
import { Bar } from "../ui/status.tsx";
import { useNow } from "../ui/time.tsx";
import { Beside, Counted } from "./counted.tsx";
import style from "./rollout.module.css";
import { bucketCondition, counts, isMoving, pace } from "./rollout.state.ts";

/** The whole rollout in one bar, with how fast it goes. */
export function Summary({ rollout }: { rollout: RolloutView }) {
  const totals = rollout.totalTargetsPerStatus;
  const now = useNow();
  const moving = isMoving(rollout.status);
  const poll = usePollMs(10_000);
  const progress = useQuery({
    ...ask(r.rollouts.progress, { params: { rolloutId: rollout.id } }),
    enabled: rollout.startedAt !== undefined,
    refetchInterval: moving ? poll : false,
  });
  if (totals === undefined) return null;
  const { done, total, waiting, running } = counts(totals);
  const speed = moving ? pace(progress.data?.points ?? [], now, waiting + running) : undefined;
  const of = `rollout.id==${rollout.id}`;
  const queryOf = (condition: string | undefined) => condition && `${of};${condition}`;
  return (
    <Card>
      <div className={style["summary"]}>
        <div className={style["figures"]}>
          {bucketOrder
            .filter((bucket) => totals[bucket] > 0)
            .map((bucket) => (
              <Counted key={bucket} q={queryOf(bucketCondition(bucket, rollout.type))}>
                <span className={style["figure"]}>
                  <span className={style["dot"]} data-bucket={bucket} />
                  <b className="num">{count(totals[bucket])}</b>
                  {buckets[bucket]}
                </span>
              </Counted>
            ))}
          <Beside counts={rollout.safetyCounts} of={of} />
          <span className={`${style["push"]} num`}>
            {t.ofTotal(done, total)}
            {speed !== undefined &&
              ` · ${t.pace(speed.perMinute < 10 ? speed.perMinute.toFixed(1) : count(Math.round(speed.perMinute)), span(speed.leftMs))}`}
          </span>
        </div>
        <Bar totals={totals} label={rollout.name} large />
      </div>
    </Card>
  );
}
