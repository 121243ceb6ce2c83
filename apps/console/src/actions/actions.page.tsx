import type { ActionView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowDownToLine } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { DeviceLink } from "../devices/columns.tsx";
import devices from "../devices/devices.module.css";
import { actionFields } from "../fiql/fields.ts";
import { FilterBox } from "../fiql/filter-box.tsx";
import { commands, filters, actions as t } from "../text/en.ts";
import { Segments } from "../ui/field.tsx";
import { type Column, Grid, pageSize } from "../ui/grid.tsx";
import { NothingMatches } from "../ui/nothing-matches.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { ActionStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { DeleteActions } from "./delete-actions.tsx";

type Row = ActionView & { readonly detailStatus?: string };
const route = getRouteApi("/in/actions");
const presets = [
  { value: "", label: t.all },
  { value: "active==true", label: t.open },
  { value: "detailstatus==error", label: t.failed },
  { value: "detailstatus==wait_for_confirmation", label: t.waiting },
  { value: "detailstatus==canceling", label: t.cancelling },
];

const columns: readonly Column<Row>[] = [
  { id: "device", head: t.columns.device, width: "minmax(140px, 1fr)", cell: (row) => <DeviceLink {...row.target} /> },
  {
    id: "status",
    head: t.columns.status,
    width: "minmax(150px, 190px)",
    sort: "detailstatus",
    cell: (row) => <ActionStatus status={row.detailStatus ?? row.status} />,
  },
  {
    id: "set",
    head: t.columns.set,
    width: "minmax(130px, 0.8fr)",
    cell: ({ distributionSet: set }) => set && `${set.name} ${set.version}`,
  },
  { id: "rollout", head: t.columns.rollout, width: "minmax(120px, 0.8fr)", cell: (row) => <OfRollout row={row} /> },
  {
    id: "message",
    head: t.columns.message,
    width: "minmax(180px, 1.3fr)",
    cell: ({ lastMessage }) => <span className="muted">{lastMessage}</span>,
  },
  {
    id: "changed",
    head: t.columns.changed,
    width: "120px",
    sort: "lastmodifiedat",
    cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} />,
  },
];

function OfRollout({ row: { rollout, rolloutName } }: { row: Row }) {
  if (rollout === undefined) return <span className="muted">–</span>;
  return (
    <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(rollout) }} search={{}} tabIndex={-1}>
      {rolloutName ?? rollout}
    </Link>
  );
}

/** They are counted no further than people look. */
const counts = 100_000;
const counted = (q?: string) => ask(r.actions.list, { query: { q, limit: 1, total: `atMost:${counts}` } });

/** The updates of all devices. */
export function ActionsPage() {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const pollMs = usePollMs(10_000);
  const total = useQuery({
    ...counted(q),
    refetchInterval: pollMs,
    placeholderData: keepPreviousData,
  });
  const apply = (query: string | undefined) => void navigate({ search: (old) => ({ ...old, q: query === "" ? undefined : query }) });
  const matches = total.data?.total;
  return (
    <Page
      fill
      title={t.title}
      api={{ row: r.actions.list, query: { q, sort }, command: commands.list("action", { q, sort }) }}
      actions={<DeleteActions q={q} />}
    >
      <div className={devices["tools"]}>
        <FilterBox
          label={t.filter}
          placeholder={t.placeholder}
          fields={actionFields}
          value={q}
          onApply={apply}
          matches={q === undefined || matches === undefined ? undefined : filters.matches(matches)}
          nameField="target.name"
          idField="target.controllerid"
        />
        <Segments label={t.presets} value={q ?? ""} onChange={apply} options={presets} />
      </div>
      {matches === undefined &&
        (total.error === null ? <Skeleton lines={10} /> : <Failure error={total.error} retry={() => void total.refetch()} />)}
      {matches === 0 &&
        (q === undefined ? (
          <Empty title={t.emptyTitle} text={t.emptyText} icon={ArrowDownToLine} />
        ) : (
          <NothingMatches all={counted()} atMost={counts} clear={() => apply(undefined)} icon={ArrowDownToLine} />
        ))}
      {matches !== undefined && matches > 0 && (
        <Grid
          label={t.title}
          total={matches}
          columns={columns}
          sort={sort}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
          page={(index) => ({
            ...ask(r.actions.list, { query: { q, sort, offset: index * pageSize, limit: pageSize, total: "none" } }),
            refetchInterval: pollMs,
          })}
          open={({ target: { controllerId } }) =>
            void navigate({ to: "/devices/$controllerId", params: { controllerId }, search: { tab: "history" } })
          }
        />
      )}
    </Page>
  );
}
