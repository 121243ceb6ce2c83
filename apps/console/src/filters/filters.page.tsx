import type { AutoAssignmentView, TargetFilterView } from "@harrier/contracts";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { commands, common, states, savedFilters as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import type { Column } from "../ui/grid.tsx";
import { ListBar, Listing, ListParts, TwoLines } from "../ui/listing.tsx";
import { Page } from "../ui/page.tsx";
import { Remove } from "../ui/remove.tsx";
import { Empty } from "../ui/states.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { type SetName, withSets } from "./assigned-sets.ts";
import { AssignmentStatus } from "./assignment-status.tsx";
import { AssignmentSteps } from "./assignment-steps.tsx";
import { byName, statusOf } from "./filters.state.ts";

const FilterForm = lazy(() => import("./new-filter.tsx").then(({ FilterForm: it }) => ({ default: it })));

const route = getRouteApi("/in/auto-assign");
const pollMs = 10_000;

/** Saved filters, and what is assigned by itself. */
export function FiltersPage() {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const lacking = useLacking(r.targetFilters.create);
  return (
    <Page
      title={t.title}
      api={
        tab === "assignments"
          ? { row: r.autoAssignments.list, command: commands.list("autoassign", {}) }
          : { row: r.targetFilters.list, command: commands.list("filter", {}) }
      }
      actions={
        <Button look="primary" why={lacking && states.missing(lacking)} onClick={() => setAdding(true)}>
          <Plus size={14} aria-hidden />
          {t.new}
        </Button>
      }
    >
      <Tabs
        label={t.tabList}
        value={tab ?? "filters"}
        onChange={(id) => void navigate({ search: (old) => ({ ...old, tab: id === "filters" ? undefined : id }) })}
        tabs={[
          { id: "filters", label: t.tabs.filters, body: <Filters add={() => setAdding(true)} /> },
          { id: "assignments", label: t.tabs.assignments, body: <Assignments /> },
        ]}
      />
      <Suspense>{adding && <FilterForm close={() => setAdding(false)} />}</Suspense>
    </Page>
  );
}

type WithSet = { readonly set?: SetName | undefined };

const setText = ({ set }: WithSet) => (set === undefined ? common.none : t.setOf(set.name, set.version));

const filterColumns: readonly Column<TargetFilterView & WithSet>[] = [
  {
    id: "name",
    head: t.columns.name,
    width: "minmax(160px, 1fr)",
    sort: "name",
    cell: ({ id, name }) => (
      <Link to="/filters/$filterId" params={{ filterId: String(id) }} tabIndex={-1} className="cut">
        <b>{name}</b>
      </Link>
    ),
  },
  { id: "query", head: t.columns.query, width: "minmax(220px, 2fr)", cell: ({ query }) => <code className="cut">{query}</code> },
  { id: "set", head: t.columns.set, width: "minmax(130px, 1fr)", cell: setText },
  { id: "status", head: t.columns.status, width: "150px", cell: (row) => <AssignmentStatus status={statusOf(row)} /> },
  {
    id: "delete",
    head: common.actions,
    width: "110px",
    cell: ({ id, name }) => (
      <Remove
        name={name}
        text={t.deleteText}
        row={r.targetFilters.delete}
        run={async () => {
          await change(r.targetFilters.delete, { params: { filterId: id } });
          await invalidate("targetFilters", "autoAssignments");
        }}
      />
    ),
  },
];

function useList() {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const clear = q === undefined ? undefined : () => void navigate({ search: (old) => ({ ...old, q: undefined }) });
  const onSort = (next: string | undefined) => void navigate({ search: (old) => ({ ...old, sort: next }) });
  return { q: byName(q), sort, clear, onSort, navigate, readable: useLacking(r.distributionSets.list) === undefined };
}

/** What is looked for by its name; the address holds it for both lists. */
function Find() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const find = (text: string) => void navigate({ search: (old) => ({ ...old, q: text === "" ? undefined : text }), replace: true });
  return (
    <ListBar>
      <Field label={t.search} hideLabel placeholder={t.search} value={q ?? ""} onChange={find} data-filter="" />
    </ListBar>
  );
}

function Filters({ add }: { add: () => void }) {
  const { q, sort, clear, onSort, navigate, readable } = useList();
  const lacking = useLacking(r.targetFilters.create);
  return (
    <ListParts>
      <Find />
      <Listing
        label={t.tabs.filters}
        columns={filterColumns}
        rows={(offset, limit, sought) =>
          withSets(
            ask(r.targetFilters.list, { query: { q: sought, sort: sort ?? "name:ASC", offset, limit } }),
            (row) => row.autoAssignDistributionSet,
            readable,
          )
        }
        sort={sort}
        onSort={onSort}
        pollMs={pollMs}
        q={q}
        clear={clear}
        open={({ id }) => void navigate({ to: "/filters/$filterId", params: { filterId: String(id) } })}
        empty={
          <Empty title={t.emptyTitle} text={t.emptyText} command={t.emptyCommand}>
            <Button why={lacking && states.missing(lacking)} onClick={add}>
              {t.new}
            </Button>
          </Empty>
        }
      />
    </ListParts>
  );
}

const assignmentColumns: readonly Column<AutoAssignmentView & WithSet>[] = [
  {
    id: "name",
    head: t.columns.name2,
    width: "minmax(160px, 1.2fr)",
    cell: ({ name, lastError }) => <TwoLines first={name} second={lastError && t.fails(lastError.message)} />,
  },
  {
    id: "query",
    head: t.columns.query,
    width: "minmax(180px, 1.4fr)",
    cell: (row) => <code className="cut">{row.targetFilterQuery}</code>,
  },
  { id: "set", head: t.columns.set, width: "minmax(120px, 1fr)", cell: setText },
  { id: "status", head: t.columns.status, width: "150px", cell: ({ status }) => <AssignmentStatus status={status} /> },
  { id: "steps", head: common.actions, width: "250px", cell: (row) => <AssignmentSteps of={row} /> },
];

function Assignments() {
  const { q, clear, readable } = useList();
  return (
    <ListParts>
      <Find />
      <Listing
        label={t.tabs.assignments}
        columns={assignmentColumns}
        rowHeight={56}
        rows={(offset, limit, sought) =>
          withSets(ask(r.autoAssignments.list, { query: { q: sought, offset, limit } }), (row) => row.distributionSetId, readable)
        }
        pollMs={pollMs}
        q={q}
        clear={clear}
        empty={<Empty title={t.assignmentsEmpty} text={t.assignmentsText} />}
      />
    </ListParts>
  );
}
