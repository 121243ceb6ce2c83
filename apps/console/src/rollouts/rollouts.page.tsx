import type { RolloutView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Rocket } from "lucide-react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { shownStatus } from "../rollout/rollout.state.ts";
import { commands, exceededText, reasonText, statusWords, rollouts as t } from "../text/en.ts";
import { Segments } from "../ui/field.tsx";
import { count, percent } from "../ui/format.ts";
import { type Column, Grid, pageSize } from "../ui/grid.tsx";
import { NothingMatches } from "../ui/nothing-matches.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Bar, RolloutStatus } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import style from "./rollouts.module.css";

const route = getRouteApi("/in/rollouts");
const chips = ["running", "paused", "ready", "waiting_for_approval", "finished", "stopped"] as const;

const columns: readonly Column<RolloutView>[] = [
  { id: "name", head: t.columns.name, width: "minmax(220px, 1.4fr)", sort: "name", cell: (row) => <Name row={row} /> },
  { id: "status", head: t.columns.status, width: "minmax(190px, 1fr)", sort: "status", cell: (row) => <Status row={row} /> },
  { id: "progress", head: t.columns.progress, width: "minmax(220px, 1.4fr)", cell: (row) => <Progress row={row} /> },
  { id: "failed", head: t.columns.failed, width: "80px", cell: (row) => <Failed row={row} /> },
  {
    id: "started",
    head: t.columns.started,
    width: "120px",
    cell: (row) => (row.startedAt ? <Time at={row.startedAt} /> : <span className="muted">{t.notStarted}</span>),
  },
];

/** All rollouts, with why each is where it is. */
export function RolloutsPage() {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const status = /^status==(\w+)$/.exec(q ?? "")?.[1] ?? "";
  const total = useQuery({
    ...ask(r.rollouts.list, { query: { q, limit: 1 } }),
    refetchInterval: usePollMs(10_000),
    placeholderData: keepPreviousData,
  });
  const apply = (word: string) => void navigate({ search: (old) => ({ ...old, q: word === "" ? undefined : `status==${word}` }) });
  return (
    <Page
      fill
      title={t.title}
      api={{ row: r.rollouts.list, query: { q, sort }, command: commands.list("rollout", { q, sort }) }}
      beside={total.data && <span className="muted num">{count(total.data.total ?? 0)}</span>}
      actions={
        <NewRollout primary>
          <Plus size={14} aria-hidden />
          {t.new}
        </NewRollout>
      }
    >
      <div>
        <Segments
          label={t.filter}
          value={status}
          onChange={apply}
          options={[{ value: "", label: t.all }, ...chips.map((value) => ({ value, label: statusWords.rollout[value] ?? value }))]}
        />
      </div>
      <Rows total={total} clear={() => apply("")} />
    </Page>
  );
}

interface RowsProps {
  readonly total: {
    readonly data: { readonly total?: number | undefined } | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly clear: () => void;
}

function Rows({ total, clear }: RowsProps) {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const pollMs = usePollMs(5_000);
  if (total.data === undefined)
    return total.error === null ? <Skeleton lines={8} /> : <Failure error={total.error} retry={() => void total.refetch()} />;
  const matches = total.data.total ?? 0;
  if (matches === 0) {
    return q === undefined ? (
      <Empty title={t.emptyTitle} text={t.emptyText} command={t.emptyCommand} icon={Rocket}>
        <NewRollout primary>{t.new}</NewRollout>
      </Empty>
    ) : (
      <NothingMatches all={ask(r.rollouts.list, { query: { limit: 1 } })} clear={clear} icon={Rocket} />
    );
  }
  return (
    <Grid
      label={t.title}
      total={matches}
      columns={columns}
      rowHeight={64}
      sort={sort}
      onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
      page={(index) => ({
        ...ask(r.rollouts.list, {
          query: { q, sort: sort ?? "id:DESC", offset: index * pageSize, limit: pageSize, representation: "full" },
        }),
        refetchInterval: pollMs,
      })}
      open={({ id }) => void navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: String(id) }, search: {} })}
    />
  );
}

function Name({ row }: { row: RolloutView }) {
  const set = row.distributionSet;
  return (
    <span className={style["name"]}>
      <Link to="/rollouts/$rolloutId" params={{ rolloutId: String(row.id) }} search={{}} tabIndex={-1} className="cut">
        <b>{row.name}</b>
      </Link>
      <span className="muted cut">{set === undefined ? row.targetFilterQuery : `${set.name} ${set.version}`}</span>
    </span>
  );
}

function Status({ row }: { row: RolloutView }) {
  const why = row.statusReason;
  const status = shownStatus({ status: row.status, reason: why?.reason });
  return (
    <span className={style["name"]}>
      <RolloutStatus status={status} />
      <span className="muted cut">
        {status === "finished_failed" ? exceededText(why?.limit) : why && reasonText(why.reason, why.actor, why.value, why.limit)}
      </span>
    </span>
  );
}

function Progress({ row }: { row: RolloutView }) {
  const totals = row.totalTargetsPerStatus;
  if (totals === undefined) return null;
  return (
    <span className={style["progress"]}>
      <Bar totals={totals} label={row.name} />
      <span className="muted num">{t.totals(totals.finished, row.totalTargets)}</span>
    </span>
  );
}

function Failed({ row }: { row: RolloutView }) {
  const failed = row.totalTargetsPerStatus?.error ?? 0;
  if (failed === 0) return <span className="muted">–</span>;
  return <span className="num">{percent(failed / Math.max(1, row.totalTargets))}</span>;
}
