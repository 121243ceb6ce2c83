import type { ActionView, RolloutGroupView, TargetView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { MonitorCheck } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { DeviceLink, deviceColumns, Poll } from "../devices/columns.tsx";
import { rollout as t } from "../text/en.ts";
import { Choice, Segments } from "../ui/field.tsx";
import { type Column, Grid, pageSize } from "../ui/grid.tsx";
import { Card } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { ActionStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./rollout.module.css";
import { silences, silentQuery } from "./rollout.state.ts";

interface GroupDevicesProps {
  readonly rolloutId: string;
  readonly groups: readonly RolloutGroupView[];
  readonly group: string | undefined;
  readonly onGroup: (id: string) => void;
}

const columns: readonly Column<TargetView>[] = deviceColumns(["name", "status", "address"]).concat({
  id: "poll",
  head: t.poll,
  width: "170px",
  cell: (row) => <Poll poll={row.pollStatus} />,
});

/** The devices of a group, as they are now. */
export function GroupDevices({ rolloutId, groups, group, onGroup }: GroupDevicesProps) {
  const navigate = useNavigate();
  const pollMs = usePollMs(10_000);
  const shown = groups.find(({ id }) => String(id) === group) ?? groups[0];
  if (shown === undefined) return <Skeleton />;
  const params = { rolloutId, groupId: shown.id };
  return (
    <div className={style["list"]}>
      <div style={{ maxWidth: 320 }}>
        <Choice
          label={t.chooseGroup}
          value={String(shown.id)}
          onChange={onGroup}
          options={groups.map(({ id, name }) => ({ value: String(id), label: name }))}
        />
      </div>
      <Grid
        label={t.tabs.devices}
        total={shown.totalTargets}
        columns={columns}
        page={(index) => ({
          ...ask(r.rollouts.groupTargets, { params, query: { offset: index * pageSize, limit: pageSize, total: "none" } }),
          refetchInterval: pollMs,
        })}
        open={({ controllerId }) => void navigate({ to: "/devices/$controllerId", params: { controllerId }, search: {} })}
      />
    </div>
  );
}

type Row = ActionView & { readonly detailStatus?: string };

const actionColumns: readonly Column<Row>[] = [
  { id: "device", head: t.device, width: "minmax(200px, 1fr)", cell: (row) => <DeviceLink {...row.target} /> },
  { id: "status", head: t.status, width: "190px", cell: (row) => <ActionStatus status={row.detailStatus ?? row.status} /> },
  { id: "group", head: t.group, width: "140px", cell: (row) => row.rolloutGroup?.name },
  { id: "message", head: t.lastMessage, width: "minmax(200px, 1.4fr)", cell: (row) => <span className="muted">{row.lastMessage}</span> },
  { id: "at", head: t.at, width: "120px", cell: (row) => <Time at={row.lastModifiedAt} /> },
];

/** No list of silent ones is counted further. */
export const mostSilent = 10_000;

interface SilentProps {
  readonly rolloutId: string;
  /** Why nothing is heard of them; undefined for any reason. */
  readonly why: string | undefined;
  readonly onWhy: (why: string | undefined) => void;
}

/** The devices with an open update of which nothing is heard: within the limits of the safety policy, since they should have polled, or ever. */
export function Silent({ rolloutId, why, onWhy }: SilentProps) {
  const q = silentQuery(rolloutId, why);
  const { data, error, refetch } = useQuery({
    ...ask(r.actions.list, { query: { q, limit: 1, total: `atMost:${mostSilent}` } }),
    refetchInterval: usePollMs(15_000),
    placeholderData: keepPreviousData,
  });
  if (data === undefined) return error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />;
  return (
    <div className={style["list"]}>
      <div>
        <Segments
          label={t.silenceLabel}
          value={why ?? ""}
          onChange={(next) => onWhy(next === "" ? undefined : next)}
          options={[
            { value: "", label: t.silences["all"] ?? "" },
            ...Object.keys(silences).map((value) => ({ value, label: t.silences[value] ?? value })),
          ]}
        />
      </div>
      {data.total === 0 ? (
        <Card>
          <Empty title={t.silentEmpty} text={t.silentTexts[why ?? "all"]} icon={MonitorCheck} />
        </Card>
      ) : (
        <SilentRows q={q} total={data.total ?? 0} />
      )}
    </div>
  );
}

function SilentRows({ q, total }: { q: string; total: number }) {
  const navigate = useNavigate();
  const pollMs = usePollMs(15_000);
  return (
    <Grid
      label={t.tabs.silent}
      total={total}
      columns={actionColumns}
      page={(index) => ({
        ...ask(r.actions.list, { query: { q, offset: index * pageSize, limit: pageSize, total: "none" } }),
        refetchInterval: pollMs,
      })}
      open={({ target: { controllerId } }) => void navigate({ to: "/devices/$controllerId", params: { controllerId }, search: {} })}
    />
  );
}
