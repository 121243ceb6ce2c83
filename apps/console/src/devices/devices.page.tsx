import type { TargetView } from "@harrier/contracts";
import { keepPreviousData, usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, MonitorSmartphone, Plus, Upload } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { ask, r, server } from "../api/client.ts";
import { useLiveMode, usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { targetFields } from "../fiql/fields.ts";
import { FilterBox } from "../fiql/filter-box.tsx";
import type { CountOf } from "../fiql/live-count.ts";
import { commands, filters, importing, states, devices as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { count } from "../ui/format.ts";
import { Grid, pageSize } from "../ui/grid.tsx";
import { NothingMatches } from "../ui/nothing-matches.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { ColumnMenu } from "./column-menu.tsx";
import { deviceColumns } from "./columns.tsx";
import style from "./devices.module.css";
import { choiceIn, columnsOf, columnsText, noChoice, readyQueries, toggled } from "./devices.state.ts";
import { Facets } from "./facets.tsx";
import { Scoped } from "./scoped.tsx";

const AddDevice = lazy(() => import("./add-device.tsx").then(({ AddDevice: it }) => ({ default: it })));
const ImportDevices = lazy(() => import("./import-devices.tsx").then(({ ImportDevices: it }) => ({ default: it })));
const Chosen = lazy(() => import("./chosen.tsx").then(({ Chosen: it }) => ({ default: it })));
const BulkProgress = lazy(() => import("./bulk-progress.tsx").then(({ BulkProgress: it }) => ({ default: it })));
const FilterForm = lazy(() => import("../filters/new-filter.tsx").then(({ FilterForm: it }) => ({ default: it })));
const route = getRouteApi("/in/devices");

const countOf: CountOf = (q) => ask(r.targets.list, { query: { q, limit: 1 } });
const readyFilters = readyQueries.map(([name, query]) => ({ name: t.ready[name], query }));

/** All devices: find, choose, act. The address holds filter, sort and columns. */
export function DevicesPage() {
  const { q, sort, cols } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState<"one" | "many">();
  const done = () => setAdding(undefined);
  const [operation, setOperation] = useState<number>();
  const [saved, setSaved] = useState<string>();
  const lacking = useLacking(r.targets.create);
  const notSaved = useLacking(r.targetFilters.create);
  const total = useTotal(q);
  const apply = (query: string | undefined) => void navigate({ search: (old) => ({ ...old, q: query }) });
  const csv = new URL(`api/mgmt/v1/targets.csv${q === undefined ? "" : `?q=${encodeURIComponent(q)}`}`, server).href;
  return (
    <Page
      fill
      title={t.title}
      api={{ row: r.targets.list, query: { q, sort }, command: commands.list("target", { q, sort }) }}
      beside={total.data !== undefined && <span className="muted num">{count(total.data)}</span>}
      actions={
        <>
          <a className={buttonClass()} href={csv} download="devices.csv">
            <Download size={14} aria-hidden />
            {t.export}
          </a>
          <Button why={lacking && states.missing(lacking)} onClick={() => setAdding("many")}>
            <Upload size={14} aria-hidden />
            {importing.open}
          </Button>
          <Button look="primary" why={lacking && states.missing(lacking)} onClick={() => setAdding("one")}>
            <Plus size={14} aria-hidden />
            {t.add}
          </Button>
        </>
      }
    >
      <div className={style["tools"]}>
        <FilterBox
          label={t.filter}
          placeholder={t.placeholder}
          fields={targetFields}
          value={q}
          onApply={apply}
          matches={q === undefined || total.data === undefined ? undefined : filters.matches(total.data)}
          countOf={countOf}
          ready={readyFilters}
          save={setSaved}
          whyNoSave={notSaved && states.missing(notSaved)}
        />
        <ColumnMenu
          columns={columnsOf(cols)}
          onChange={(columns) => void navigate({ search: (old) => ({ ...old, cols: columnsText(columns) }) })}
        />
      </div>
      <Scoped />
      <Facets q={q} onApply={apply} />
      <Suspense>
        {operation !== undefined && <BulkProgress key={operation} id={operation} close={() => setOperation(undefined)} />}
      </Suspense>
      <Rows total={total} clear={() => apply(undefined)} add={() => setAdding("one")} begun={setOperation} />
      <Suspense>
        {adding === "one" && <AddDevice close={done} />}
        {adding === "many" && <ImportDevices close={done} />}
      </Suspense>
      <Suspense>{saved !== undefined && <FilterForm query={saved} close={() => setSaved(undefined)} />}</Suspense>
    </Page>
  );
}

/** The number of matches is counted by itself: pages then need no count. A count costs more than a page, so it is seldom where the server tells of changes. */
function useTotal(q: string | undefined) {
  const live = useLiveMode() === "live";
  return useQuery({
    ...ask(r.targets.list, { query: { q, limit: 1 } }),
    select: (page) => page.total ?? 0,
    refetchInterval: live ? 30_000 : 6_000,
    placeholderData: keepPreviousData,
  });
}

interface RowsProps {
  readonly total: ReturnType<typeof useTotal>;
  readonly clear: () => void;
  readonly add: () => void;
  readonly begun: (operationId: number) => void;
}

function Rows({ total, clear, add, begun }: RowsProps) {
  const { q, sort, cols } = route.useSearch();
  const navigate = route.useNavigate();
  const [choice, setChoice] = useState(() => noChoice(q));
  const current = choiceIn(q, choice);
  // It is forgotten at once: who comes back to the query finds nothing chosen.
  if (current !== choice) setChoice(current);
  const pollMs = usePollMs(10_000);
  const page = (index: number) =>
    ask(r.targets.list, { query: { q, sort, offset: index * pageSize, limit: pageSize, representation: "full", total: "none" } });
  // The first rows are asked for while all are counted.
  usePrefetchQuery(page(0));
  // Rows that are there stay where they cannot be asked for again; the page says that they are old.
  if (total.data === undefined)
    return total.error === null ? <Skeleton lines={12} /> : <Failure error={total.error} retry={() => void total.refetch()} />;
  if (total.data === 0 && q !== undefined) {
    return <NothingMatches all={ask(r.targets.list, { query: { limit: 1 } })} clear={clear} icon={MonitorSmartphone} />;
  }
  if (total.data === 0) {
    return (
      <Empty title={t.emptyTitle} text={t.emptyText} command={t.emptyCommand} icon={MonitorSmartphone}>
        <Button look="primary" onClick={add}>
          {t.add}
        </Button>
      </Empty>
    );
  }
  const { ids, all } = current;
  const toggle = ({ controllerId }: TargetView) => setChoice((old) => toggled(old, controllerId));
  return (
    <>
      <Grid
        label={t.title}
        total={total.data}
        columns={deviceColumns(columnsOf(cols))}
        page={(index) => ({ ...page(index), refetchInterval: pollMs })}
        sort={sort}
        onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
        selection={{ has: (row) => all || ids.has(row.controllerId), toggle, name: (row) => row.name }}
        open={({ controllerId }) => void navigate({ to: "/devices/$controllerId", params: { controllerId }, search: {} })}
      />
      {/* It stands behind the rows, so that none moves when the first is chosen. */}
      <Suspense>
        {ids.size > 0 && (
          <Chosen
            ids={[...ids]}
            all={all ? { q: q ?? "controllerid==*", total: total.data } : undefined}
            total={total.data}
            onAll={() => setChoice({ ...current, all: true })}
            onNone={() => setChoice(noChoice(q))}
            begun={begun}
          />
        )}
      </Suspense>
    </>
  );
}
