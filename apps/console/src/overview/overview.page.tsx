import type { RolloutView } from "@harrier/contracts";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheckBig } from "lucide-react";
import { ask, problemOf, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { conditionOf } from "../devices/devices.state.ts";
import { Scoped } from "../devices/scoped.tsx";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { reasonText, states, overview as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { percent } from "../ui/format.ts";
import { Card, Page } from "../ui/page.tsx";
import { Empty, Failure, Note, Skeleton } from "../ui/states.tsx";
import { Bar, Mark } from "../ui/status.tsx";
import { useNow } from "../ui/time.tsx";
import { Fleet } from "./fleet.tsx";
import style from "./overview.module.css";
import { type Need, needsOf } from "./overview.state.ts";

const interesting = "status=in=(paused,waiting_for_approval,running,starting)";

/** What needs somebody, and the fleet in numbers. */
export function OverviewPage() {
  const mayRollouts = useLacking(r.rollouts.list) === undefined;
  const mayTargets = useLacking(r.targets.list) === undefined;
  const rollouts = useQuery({
    ...ask(r.rollouts.list, { query: { q: interesting, representation: "full", limit: 50, sort: "id:DESC" } }),
    enabled: mayRollouts,
    refetchInterval: usePollMs(5_000),
  });
  const list = rollouts.data?.content ?? [];
  return (
    <Page title={t.title}>
      <Scoped />
      <div className={style["columns"]}>
        <div className={style["stack"]}>
          <Needs rollouts={mayRollouts ? rollouts : undefined} />
          {mayRollouts && rollouts.data !== undefined && <Running rollouts={list.filter(isRunning)} />}
        </div>
        {mayTargets && <Fleet />}
      </div>
    </Page>
  );
}

const isRunning = ({ status }: RolloutView) => status === "running" || status === "starting";

/** What the page knows of something: an answer, or why there is none. */
type Answered<T> = Pick<UseQueryResult<T>, "data" | "error" | "refetch">;

interface Needed {
  readonly needs?: Need[];
  /** What could not be asked, so that "nothing" would be a guess. */
  readonly failed?: Answered<unknown> | undefined;
}

function useNeeds(rollouts: readonly RolloutView[]): Needed {
  const now = useNow();
  const mayTargets = useLacking(r.targets.summary) === undefined;
  const mayKeys = useLacking(r.apiKeys.list) === undefined;
  const mayQuotas = useLacking(r.quotas.list) === undefined;
  const overdue = useQuery({
    ...ask(r.targets.summary, { query: { by: "overdue", top: 2 } }),
    enabled: mayTargets,
    refetchInterval: usePollMs(30_000),
  });
  const keys = useQuery({ ...ask(r.apiKeys.list), enabled: mayKeys, staleTime: 300_000 });
  const quotas = useQuery({ ...ask(r.quotas.list), enabled: mayQuotas, staleTime: 300_000 });
  const asked: readonly [boolean, Answered<unknown>][] = [
    [mayTargets, overdue],
    [mayKeys, keys],
    [mayQuotas, quotas],
  ];
  const failed = asked.find(([may, { data, error }]) => may && data === undefined && error !== null)?.[1];
  if (failed === undefined && asked.some(([may, { data }]) => may && data === undefined)) return {};
  const late = overdue.data?.facets[0]?.values.find(({ value }) => value === "true")?.count ?? 0;
  const needs = needsOf(
    {
      rollouts,
      overdue: late,
      keys: keys.data ?? [],
      quotas: Object.entries(quotas.data ?? {}).map(([key, quota]) => ({ key, ...quota })),
    },
    now,
  );
  return { needs, failed };
}

function Needs({ rollouts: asked }: { rollouts: Answered<{ content: RolloutView[] }> | undefined }) {
  const rollouts = asked?.data?.content ?? [];
  const { needs, failed: other } = useNeeds(rollouts);
  const failed = asked?.data === undefined && asked?.error ? asked : other;
  if (failed === undefined && (needs === undefined || (asked !== undefined && asked.data === undefined))) return <Skeleton lines={3} />;
  if (failed !== undefined && !needs?.length) {
    return (
      <Card title={t.needsYou}>
        <Failure error={failed.error} retry={() => void failed.refetch()} />
      </Card>
    );
  }
  if (needs === undefined || needs.length === 0) {
    return (
      <Card title={t.needsYou}>
        <Empty title={t.nothing} text={t.nothingText} icon={CircleCheckBig} />
      </Card>
    );
  }
  return (
    <Card title={t.needsYou} plain>
      {failed !== undefined && (
        <Note tone="warn" alert>
          <p>
            {t.notAll} {problemOf(failed.error).text}
          </p>
          <p className="muted mono">{states.request(problemOf(failed.error).requestId ?? "–")}</p>
          <Button small onClick={() => void failed.refetch()}>
            {states.retry}
          </Button>
        </Note>
      )}
      <ul>
        {needs.map((need) => (
          <NeedLine key={`${need.kind}-${need.id}`} need={need} rollout={rollouts.find(({ id }) => String(id) === need.id)} />
        ))}
      </ul>
    </Card>
  );
}

function NeedLine({ need, rollout }: { need: Need; rollout: RolloutView | undefined }) {
  const why = rollout?.statusReason;
  const detail = need.detail ?? (need.kind === "paused" && why ? reasonText(why.reason, why.actor, why.value, why.limit) : undefined);
  const words: Record<Need["kind"], string> = {
    paused: t.paused(need.name),
    fails: t.fails(need.name),
    waits: t.waits(need.name),
    overdue: t.overdue(need.count ?? 0),
    keyEnds: t.keyEnds(need.name),
    quota: t.quota(need.name, percent(need.count ?? 0)),
  };
  const bad = need.kind === "paused" || need.kind === "fails";
  return (
    <li className={style["need"]}>
      <Mark tone={bad ? "bad" : "warn"} sign={bad ? "✕" : "?"} word="" />
      <div>
        {words[need.kind]}
        {detail !== undefined && detail !== "" && <div className="muted">{detail}</div>}
      </div>
      {rollout !== undefined && (
        <Link to="/rollouts/$rolloutId" params={{ rolloutId: need.id }} search={{}} className={buttonClass(undefined, true)}>
          {need.kind === "waits" ? t.decide : t.look}
        </Link>
      )}
      {need.kind === "overdue" && (
        <Link to="/devices" search={{ q: conditionOf("overdue", "true") }} className={buttonClass(undefined, true)}>
          {t.look}
        </Link>
      )}
      {(need.kind === "quota" || need.kind === "keyEnds") && (
        <Link to="/settings/{-$part}" params={{ part: need.kind === "quota" ? "quotas" : "keys" }} className={buttonClass(undefined, true)}>
          {t.look}
        </Link>
      )}
    </li>
  );
}

function Running({ rollouts }: { rollouts: readonly RolloutView[] }) {
  return (
    <Card title={t.running} plain>
      {rollouts.length === 0 && (
        <p className={`${style["need"]} muted`}>
          {t.noneRunning} <NewRollout>{t.newRollout}</NewRollout>
        </p>
      )}
      {rollouts.map(({ id, name, totalTargetsPerStatus: totals, totalTargets }) => (
        <div key={id} className={style["running"]}>
          <div>
            <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(id) }} search={{}} className="cut">
              {name}
            </Link>
            <span className="muted num">{t.of(totals?.finished ?? 0, totalTargets)}</span>
          </div>
          {totals !== undefined && <Bar totals={totals} label={name} />}
        </div>
      ))}
    </Card>
  );
}
