import { useQuery } from "@tanstack/react-query";
import { PartyPopper } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { DeviceLink } from "../devices/columns.tsx";
import { rollout as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { Counted } from "./counted.tsx";
import style from "./rollout.module.css";
import { failureQuery } from "./rollout.state.ts";

/** So many devices of a kind of failure are named. */
const named = 3;

/** Why devices failed: alike failures together, the most frequent first. */
export function Failures({ rolloutId }: { rolloutId: string }) {
  const { data, error, refetch } = useQuery({
    ...ask(r.rollouts.failures, { params: { rolloutId }, query: { top: 100 } }),
    refetchInterval: usePollMs(5_000),
  });
  if (data === undefined) return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.content.length === 0) {
    return (
      <Card>
        <Empty title={t.failuresEmpty} text={t.failuresEmptyText} icon={PartyPopper} />
      </Card>
    );
  }
  return (
    <Card plain>
      <div className={style["scroll"]}>
        <table className={style["table"]}>
          <thead>
            <tr>
              <th>{t.columns.count}</th>
              <th>{t.columns.code}</th>
              <th>{t.columns.message}</th>
              <th>{t.columns.last}</th>
              <th>{t.columns.sample}</th>
            </tr>
          </thead>
          <tbody>
            {data.content.map((kind) => (
              <tr key={`${kind.code}-${kind.message}`}>
                <td className="num">
                  <Counted q={failureQuery(rolloutId, kind, data.content)}>{count(kind.count)}</Counted>
                </td>
                <td className="mono">{kind.code ?? "–"}</td>
                <td>{kind.others ? t.others : (kind.message ?? <span className="muted">{t.noMessage}</span>)}</td>
                <td className="muted">
                  <Time at={kind.lastAt} />
                </td>
                <td>
                  {kind.sample.slice(0, named).map((controllerId) => (
                    <div key={controllerId}>
                      <DeviceLink controllerId={controllerId} />
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
