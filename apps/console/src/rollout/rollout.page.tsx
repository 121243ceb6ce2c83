import type { RolloutGroupView, RolloutView } from "@harrier/contracts";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { commands, exceededText, reasonText, rollouts, rollout as t } from "../text/en.ts";
import type { ApiText } from "../ui/api-text.tsx";
import { Page } from "../ui/page.tsx";
import { Failure, Note, Skeleton } from "../ui/states.tsx";
import { RolloutStatus } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Definition } from "./definition.tsx";
import { Failures } from "./failures.tsx";
import { Groups } from "./groups.tsx";
import { isMoving, shownStatus, silentQuery } from "./rollout.state.ts";
import { Steps } from "./steps.tsx";
import { Summary } from "./summary.tsx";

const GroupDevices = lazy(() => import("./devices.tsx").then(({ GroupDevices: it }) => ({ default: it })));
const Silent = lazy(() => import("./devices.tsx").then(({ Silent: it }) => ({ default: it })));
const Timeline = lazy(() => import("./timeline.tsx").then(({ Timeline: it }) => ({ default: it })));
const route = getRouteApi("/in/rollouts/$rolloutId");

/** One rollout: how far it is, what stopped it, and what to do. */
export function RolloutPage() {
  const { rolloutId } = route.useParams();
  const { tab, silence } = route.useSearch();
  const fast = usePollMs(2_000);
  const params = { rolloutId };
  const { data, error, refetch } = useQuery({
    ...ask(r.rollouts.get, { params }),
    refetchInterval: ({ state }) => (isMoving(state.data?.status ?? "") ? fast : 15_000),
  });
  const moving = isMoving(data?.status ?? "");
  const groups = useQuery({
    ...ask(r.rollouts.listGroups, { params, query: { representation: "full", limit: 500, sort: "id:ASC" } }),
    refetchInterval: moving ? fast : 15_000,
  });
  if (data === undefined) return error === null ? <Skeleton lines={10} /> : <Failure alone error={error} retry={() => void refetch()} />;
  const list = groups.data?.content;
  return (
    <Page
      title={data.name}
      api={apiOf(rolloutId, tab, silence)}
      trail={
        <Link to="/rollouts" search={{}}>
          {rollouts.title}
        </Link>
      }
      beside={<RolloutStatus status={shownStatus({ status: data.status, reason: data.statusReason?.reason })} pill />}
      sub={<Sub rollout={data} />}
      actions={<Steps rollout={data} groups={list} />}
    >
      <Why rollout={data} groups={list ?? []} />
      <Summary rollout={data} />
      <RolloutTabs rollout={data} groups={groups} />
    </Page>
  );
}

/** What a tab shows, as an operation and as a command. */
function apiOf(rolloutId: string, tab: string | undefined, silence: string | undefined): ApiText {
  const params = { rolloutId };
  const command = (verb: string) => commands.of("rollout", verb, rolloutId);
  const q = silentQuery(rolloutId, silence);
  switch (tab) {
    case "failures":
      return { row: r.rollouts.failures, params, command: command("failures") };
    case "silent":
      return { row: r.actions.list, query: { q }, command: commands.list("action", { q }) };
    case "timeline":
      return { row: r.rollouts.timeline, params, command: command("timeline") };
    case undefined:
    case "groups":
      return { row: r.rollouts.listGroups, params, query: { representation: "full" }, command: command("watch") };
    default:
      return { row: r.rollouts.get, params, command: command("get") };
  }
}

type Asked<T> = Pick<UseQueryResult<T>, "data" | "error" | "refetch">;

/** What a tab shows of something that is asked for: its skeleton, why it failed, or itself. */
function awaited<T>({ data, error, refetch }: Asked<T>, show: (data: T) => ReactNode): ReactNode {
  if (data !== undefined) return show(data);
  return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
}

function RolloutTabs({ rollout, groups }: { rollout: RolloutView; groups: Asked<{ content: RolloutGroupView[] }> }) {
  const { tab = "groups", group, silence } = route.useSearch();
  const { rolloutId } = route.useParams();
  const navigate = route.useNavigate();
  const mayDevices = useLacking(r.rollouts.failures) === undefined;
  const silent = useQuery({
    ...ask(r.actions.list, { query: { q: silentQuery(rolloutId), limit: 1, total: "atMost:10000" } }),
    enabled: mayDevices,
    refetchInterval: usePollMs(15_000),
  });
  const go = (search: { tab?: string | undefined; group?: string | undefined; silence?: string | undefined }) =>
    void navigate({ search, replace: true });
  const about = [
    { id: "failures", label: t.tabs.failures, badge: rollout.totalTargetsPerStatus?.error, body: <Failures rolloutId={rolloutId} /> },
    {
      id: "silent",
      label: t.tabs.silent,
      badge: silent.data?.total,
      body: <Silent rolloutId={rolloutId} why={silence} onWhy={(why) => go({ tab: "silent", silence: why })} />,
    },
    {
      id: "devices",
      label: t.tabs.devices,
      body: awaited(groups, ({ content }) => (
        <GroupDevices rolloutId={rolloutId} groups={content} group={group} onGroup={(id) => go({ tab: "devices", group: id })} />
      )),
    },
  ];
  const tabs = [
    { id: "groups", label: t.tabs.groups, body: awaited(groups, ({ content }) => <Groups groups={content} type={rollout.type} />) },
    ...(mayDevices ? about : []),
    { id: "timeline", label: t.tabs.timeline, body: <Timeline rolloutId={rolloutId} moving={isMoving(rollout.status)} /> },
    { id: "definition", label: t.tabs.definition, body: <Definition rollout={rollout} /> },
  ].map((one) => ({ ...one, body: <Suspense fallback={<Skeleton />}>{one.body}</Suspense> }));
  return <Tabs label={t.tabList} value={tab} tabs={tabs} onChange={(id) => go({ tab: id === "groups" ? undefined : id })} />;
}

function Sub({ rollout }: { rollout: RolloutView }) {
  const set = rollout.distributionSet;
  return (
    <>
      {set !== undefined && `${set.name} ${set.version}`}
      {" · "}
      <code>{rollout.targetFilterQuery}</code>
      {" · "}
      {rollouts.by(rollout.createdBy ?? "")}
    </>
  );
}

/** Why it stands still, in one sentence; nothing where it goes its way. */
function Why({ rollout, groups }: { rollout: RolloutView; groups: readonly RolloutGroupView[] }) {
  const { statusReason: why, lastError } = rollout;
  const status = shownStatus({ status: rollout.status, reason: why?.reason });
  if (lastError !== undefined) {
    return (
      <Note tone="bad">
        {t.lastError(lastError.attempts)}
        {lastError.message}
      </Note>
    );
  }
  if (status === "creating") return <Note>{t.creating}</Note>;
  if (status === "ready") return <Note>{t.readyNote}</Note>;
  if (status === "waiting_for_approval") return <Note tone="warn">{t.approvalNote}</Note>;
  if (why === undefined || !["paused", "stopped", "approval_denied", "finished_failed"].includes(status)) return null;
  const hasFailed = status === "finished_failed";
  const text = hasFailed ? exceededText(why.limit) : reasonText(why.reason, why.actor, why.value, why.limit);
  const group = groups.find(({ id }) => id === why.groupId)?.name;
  if (text === "") return null;
  return (
    <Note tone={why.reason === "error_threshold" ? "bad" : "warn"}>
      {!hasFailed && <RolloutStatus status={status} />} {group === undefined ? null : <b>{group}</b>} {text}
    </Note>
  );
}
