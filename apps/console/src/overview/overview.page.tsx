import type { RolloutView } from "@harrier/contracts";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheckBig } from "lucide-react";
import { useEffect, useRef } from "react";
import { ask, problemOf, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { conditionOf } from "../devices/devices.state.ts";
import { Scoped } from "../devices/scoped.tsx";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { exceededText, quotaTitles, reasonText, states, overview as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { percent } from "../ui/format.ts";
import { Card, Page } from "../ui/page.tsx";
import { Empty, Failure, Note, Skeleton } from "../ui/states.tsx";
import { Bar, Mark } from "../ui/status.tsx";
import { useNow } from "../ui/time.tsx";
import { Fleet } from "./fleet.tsx";
import style from "./overview.module.css";
import { endedQuery, type Need, needsOf } from "./overview.state.ts";
import { Start, useStart } from "./start.tsx";

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
  const start = useStart(mayTargets);
  const needed = useNeeds(rollouts.data?.content ?? []);
  const unread = rollouts.data === undefined && rollouts.error !== null ? rollouts : undefined;
  const isRead = !mayRollouts || rollouts.data !== undefined || unread !== undefined;
  // The parts appear together, so that none is moved by another that comes later.
  const isReady = isRead && needed !== undefined && start.phase !== "unknown";
  const parts = useLatest(isReady ? { start, needed, unread, rollouts: rollouts.data?.content } : undefined);
  return (
    <Page title={t.title}>
      <Scoped />
      <div className={style["columns"]}>
        {parts === undefined ? <Skeleton lines={6} /> : <Parts {...parts} />}
        {mayTargets && <Fleet />}
      </div>
    </Page>
  );
}

interface PartsProps {
  readonly start: ReturnType<typeof useStart>;
  readonly needed: Needed;
  /** The rollouts that could not be asked for. */
  readonly unread: Answered<unknown> | undefined;
  /** Undefined for whoever may not see them, and while they could not be asked for. */
  readonly rollouts: readonly RolloutView[] | undefined;
}

function Parts({ start, needed, unread, rollouts }: PartsProps) {
  const running = rollouts?.filter(isRunning);
  return (
    <div className={style["stack"]}>
      {start.phase === "going" && <Start of={start.started} />}
      <Needs of={{ ...needed, failed: unread ?? needed.failed }} quiet={start.phase === "going"} />
      {running !== undefined && (running.length > 0 || start.phase === "over") && <Running rollouts={running} />}
    </div>
  );
}

/** A value, or the last one while there is none: what was seen once is not taken away because something is asked for again. */
function useLatest<T>(value: T | undefined): T | undefined {
  const latest = useRef(value);
  useEffect(() => {
    if (value !== undefined) latest.current = value;
  });
  return value ?? latest.current;
}

const isRunning = ({ status }: RolloutView) => status === "running" || status === "starting";

/** What the page knows of something: an answer, or why there is none. */
type Answered<T> = Pick<UseQueryResult<T>, "data" | "error" | "refetch">;

interface Needed {
  readonly needs: readonly Need[];
  /** The rollouts that the needs are of, and others. */
  readonly rollouts: readonly RolloutView[];
  /** What could not be asked, so that "nothing" would be a guess. */
  readonly failed?: Answered<unknown> | undefined;
}

/** What needs somebody, with the rollouts that are open; undefined until all of it has been answered or refused. */
function useNeeds(open: readonly RolloutView[]): Needed | undefined {
  const now = useNow();
  const mayRollouts = useLacking(r.rollouts.list) === undefined;
  const mayTargets = useLacking(r.targets.summary) === undefined;
  const mayKeys = useLacking(r.apiKeys.list) === undefined;
  const mayQuotas = useLacking(r.quotas.list) === undefined;
  const ended = useQuery({
    ...ask(r.rollouts.list, { query: { q: endedQuery(now), representation: "full", limit: 50, sort: "lastModifiedAt:DESC" } }),
    enabled: mayRollouts,
    refetchInterval: usePollMs(30_000),
    // Its query changes by the hour.
    placeholderData: keepPreviousData,
  });
  const devices = useQuery({
    ...ask(r.targets.summary, { query: { by: "overdue,updatestatus", top: 5 } }),
    enabled: mayTargets,
    refetchInterval: usePollMs(10_000),
  });
  const keys = useQuery({ ...ask(r.apiKeys.list), enabled: mayKeys, staleTime: 300_000 });
  const quotas = useQuery({ ...ask(r.quotas.list), enabled: mayQuotas, staleTime: 300_000 });
  const asked: readonly [boolean, Answered<unknown>][] = [
    [mayRollouts, ended],
    [mayTargets, devices],
    [mayKeys, keys],
    [mayQuotas, quotas],
  ];
  const missing = asked.filter(([may, { data }]) => may && data === undefined).map(([, one]) => one);
  if (missing.some(({ error }) => error === null)) return undefined;
  const counted = (by: string, word: string) =>
    devices.data?.facets.find((facet) => facet.by === by)?.values.find(({ value }) => value === word)?.count ?? 0;
  const rollouts = [...open, ...(ended.data?.content ?? [])];
  const needs = needsOf(
    {
      rollouts,
      failed: counted("updatestatus", "error"),
      overdue: counted("overdue", "true"),
      keys: keys.data ?? [],
      quotas: Object.entries(quotas.data ?? {}).map(([key, quota]) => ({ key, ...quota })),
    },
    now,
  );
  return { needs, rollouts, failed: missing[0] };
}

interface NeedsProps {
  readonly of: Needed;
  /** Nothing is said where nothing is needed: the first steps are not done yet. */
  readonly quiet: boolean;
}

function Needs({ of: { needs, rollouts, failed }, quiet }: NeedsProps) {
  if (failed !== undefined && needs.length === 0) {
    return (
      <Card title={t.needsYou}>
        <Failure error={failed.error} retry={() => void failed.refetch()} />
      </Card>
    );
  }
  if (needs.length === 0) {
    return quiet ? null : (
      <Card title={t.needsYou}>
        <NothingNeeded />
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
          <NeedLine
            key={`${need.kind}-${need.id}`}
            need={need}
            rollout={isOfRollout(need) ? rollouts.find(({ id }) => String(id) === need.id) : undefined}
          />
        ))}
      </ul>
    </Card>
  );
}

/** Of what somebody may not see nothing is known here, so nothing is said of it. */
function NothingNeeded() {
  const seen = {
    rollouts: useLacking(r.rollouts.list) === undefined,
    devices: useLacking(r.targets.summary) === undefined,
  };
  const kinds = ["rollouts", "devices"] as const;
  const unseen = kinds.filter((kind) => !seen[kind]).map((kind) => t.unseenNames[kind]);
  const said = kinds.filter((kind) => seen[kind]).map((kind) => t.nothingOf[kind]);
  const text = [...said, ...(unseen.length > 0 ? [t.unseen(unseen)] : [])].join(" ");
  return <Empty title={unseen.length > 0 ? t.nothingSeen : t.nothing} text={text} icon={CircleCheckBig} />;
}

/** Ids of different kinds of things may be the same number. */
const isOfRollout = ({ kind }: Need) => ["paused", "ended", "fails", "waits"].includes(kind);

/** Too many failures have paused or ended it, or somebody has paused it. */
const isStopped = ({ kind }: Need) => kind === "paused" || kind === "ended";

function NeedLine({ need, rollout }: { need: Need; rollout: RolloutView | undefined }) {
  const why = rollout?.statusReason;
  const reason = need.kind === "ended" ? exceededText(why?.limit) : why && reasonText(why.reason, why.actor, why.value, why.limit);
  const detail = need.detail ?? (isStopped(need) ? reason : undefined);
  const words: Record<Need["kind"], string> = {
    paused: t.paused(need.name),
    ended: t.ended(need.name),
    fails: t.fails(need.name),
    waits: t.waits(need.name),
    failed: t.failed(need.count ?? 0),
    overdue: t.overdue(need.count ?? 0),
    keyEnds: t.keyEnds(need.name),
    quota: t.quota(quotaTitles[need.name] ?? need.name, percent(need.count ?? 0)),
  };
  const bad = isStopped(need) || need.kind === "fails" || need.kind === "failed";
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
      {(need.kind === "overdue" || need.kind === "failed") && (
        <Link
          to="/devices"
          search={{ q: need.kind === "overdue" ? conditionOf("overdue", "true") : conditionOf("updatestatus", "error") }}
          className={buttonClass(undefined, true)}
        >
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
