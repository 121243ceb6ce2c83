import { useQuery } from "@tanstack/react-query";
import { Clock } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { buckets, reasonText, statusWords, rollout as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { count, moment, span } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { RolloutStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./rollout.module.css";
import { shownStatus } from "./rollout.state.ts";

const Plot = lazy(() => import("./plot.tsx").then(({ Plot: it }) => ({ default: it })));
const plotted = ["finished", "error", "running"] as const;

/** What happened, and how the counts went. */
export function Timeline({ rolloutId, moving }: { rolloutId: string; moving: boolean }) {
  return (
    <div className={style["summary"]} style={{ gap: 20 }}>
      <Progress rolloutId={rolloutId} moving={moving} />
      <History rolloutId={rolloutId} />
    </div>
  );
}

function Progress({ rolloutId, moving }: { rolloutId: string; moving: boolean }) {
  const [asTable, setAsTable] = useState(false);
  const poll = usePollMs(10_000);
  const { data, error, refetch } = useQuery({
    ...ask(r.rollouts.progress, { params: { rolloutId } }),
    refetchInterval: moving ? poll : false,
  });
  const points = data?.points ?? [];
  const toggle = (
    <Button small look="ghost" onClick={() => setAsTable(!asTable)}>
      {asTable ? t.plotChart : t.plotTable}
    </Button>
  );
  return (
    <Card title={t.plotTitle} aside={toggle} plain={asTable && points.length > 0}>
      {points.length === 0 && (
        <div className={style["plot"]}>
          {data === undefined && (error === null ? <Skeleton lines={4} /> : <Failure error={error} retry={() => void refetch()} />)}
          {data !== undefined && <p className="muted">{t.plotNone}</p>}
        </div>
      )}
      {points.length > 0 && !asTable && (
        <Suspense fallback={<div className={style["plot"]} />}>
          <Plot points={points} />
        </Suspense>
      )}
      {points.length > 0 && <Span points={points} inTable={asTable} />}
      {points.length > 0 && asTable && (
        <table className={style["table"]}>
          <thead>
            <tr>
              <th>{t.at}</th>
              {plotted.map((bucket) => (
                <th key={bucket}>{buckets[bucket]}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map(({ at, totalTargetsPerStatus: totals }) => (
              <tr key={at}>
                <td>{moment(at)}</td>
                {plotted.map((bucket) => (
                  <td key={bucket} className="num">
                    {count(totals[bucket])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

/** From when to when the counts are, which the axis of the chart shows too. */
function Span({ points, inTable }: { points: readonly { readonly at: number }[]; inTable: boolean }) {
  const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  return (
    <p className={`${style["span"]} muted`} data-table={inTable}>
      {t.plotSpan(moment(from), moment(to), span(to - from))}
    </p>
  );
}

function History({ rolloutId }: { rolloutId: string }) {
  const { data, error, refetch } = useQuery({
    ...ask(r.rollouts.timeline, { params: { rolloutId }, query: { limit: 500, sort: "sequence:DESC" } }),
    refetchInterval: usePollMs(5_000),
  });
  if (data === undefined) return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.content.length === 0) return <Empty title={t.timelineEmpty} icon={Clock} />;
  return (
    <Card plain>
      <ol className={style["steps"]}>
        {data.content.map((step) => (
          <li key={step.sequence} className={style["step"]}>
            <span className="muted">
              <Time at={step.at} />
            </span>
            <b className="cut">{step.group?.name ?? t.rolloutItself}</b>
            <span>
              <RolloutStatus status={step.group === undefined ? shownStatus(step) : step.status} />{" "}
              <span className="muted">
                {[
                  step.previousStatus && statusWords.rollout[step.previousStatus] ? `← ${statusWords.rollout[step.previousStatus]}` : "",
                  reasonText(step.reason, step.actor, step.value, step.limit),
                  step.causedBy ? t.caused(step.causedBy.name) : "",
                  step.remark ?? "",
                ]
                  .filter((part) => part !== "")
                  .join(" · ")}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
