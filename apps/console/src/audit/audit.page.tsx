import type { AuditEntryView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Download, ScrollText, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { ask, change, r, server } from "../api/client.ts";
import devices from "../devices/devices.module.css";
import { FilterBox } from "../fiql/filter-box.tsx";
import { commands, filters, audit as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";
import { type Column, Grid, pageSize } from "../ui/grid.tsx";
import { TwoLines } from "../ui/listing.tsx";
import { NothingMatches } from "../ui/nothing-matches.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { toast, toastFailure } from "../ui/toast.tsx";
import style from "./audit.module.css";
import { auditFields, tell, withoutParts } from "./audit.state.ts";
import { Result } from "./result.tsx";

const route = getRouteApi("/in/audit");

const columns: readonly Column<AuditEntryView>[] = [
  { id: "at", head: t.columns.at, width: "120px", cell: ({ time }) => <Time at={time} /> },
  { id: "actor", head: t.columns.actor, width: "minmax(130px, 0.8fr)", cell: ({ actor }) => actor },
  {
    id: "action",
    head: t.columns.action,
    width: "minmax(260px, 2fr)",
    cell: (row) => <TwoLines first={<Told row={row} />} second={row.action} />,
  },
  { id: "result", head: t.columns.result, width: "120px", cell: (row) => <Result row={row} /> },
  { id: "from", head: t.columns.from, width: "130px", cell: ({ sourceIp }) => <span className="mono">{sourceIp}</span> },
];

/** What was done to what, in words where there are some. */
function Told({ row }: { row: AuditEntryView }) {
  const told = tell(row);
  if (told === undefined) return `${row.entity} ${row.entityIds.join(", ")}`;
  const { verb, what, to, more } = told;
  return (
    <span className={style["told"]}>
      {`${verb} `}
      {to === undefined ? (
        what
      ) : (
        <Link to={to} tabIndex={-1}>
          {what}
        </Link>
      )}
      {more > 0 && t.more(more)}
    </span>
  );
}

/** Entries are counted no further than people look. */
const counts = 100_000;
const counted = (q?: string) => ask(r.audit.list, { query: { q, limit: 1, total: `atMost:${counts}` } });

/** Who did what: every changing call and every failed sign-in, the newest first. */
export function AuditPage() {
  const { q: typed } = route.useSearch();
  const [parts, setParts] = useState(false);
  const q = withoutParts(typed, parts);
  const navigate = route.useNavigate();
  const total = useQuery({ ...counted(q), placeholderData: keepPreviousData });
  const apply = (query: string | undefined) => void navigate({ search: { q: query } });
  const matches = total.data?.total;
  const verify = () => {
    change(r.audit.verify).then(({ valid }) => toast(valid ? t.valid : t.broken, valid ? undefined : "bad"), toastFailure);
  };
  const csv = new URL(`api/mgmt/v1/audit.csv${q === undefined ? "" : `?q=${encodeURIComponent(q)}`}`, server).href;
  return (
    <Page
      fill
      title={t.title}
      api={{ row: r.audit.list, query: { q }, command: commands.list("audit", { q }) }}
      actions={
        <>
          <Button onClick={verify}>
            <ShieldCheck size={14} aria-hidden />
            {t.verify}
          </Button>
          <a className={buttonClass()} href={csv} download="audit.csv">
            <Download size={14} aria-hidden />
            {t.export}
          </a>
        </>
      }
    >
      <div className={devices["tools"]}>
        <FilterBox
          label={t.filter}
          placeholder={t.placeholder}
          fields={auditFields}
          value={typed}
          onApply={apply}
          matches={typed === undefined || matches === undefined ? undefined : filters.matches(matches)}
          nameField="actor"
          idField="action"
        />
        <div className={style["parts"]}>
          <Check label={t.parts} checked={parts} onChange={setParts} />
        </div>
      </div>
      {matches === undefined &&
        (total.error === null ? <Skeleton lines={10} /> : <Failure error={total.error} retry={() => void total.refetch()} />)}
      {matches === 0 && typed === undefined && <Empty title={t.emptyTitle} icon={ScrollText} />}
      {matches === 0 && typed !== undefined && (
        <NothingMatches all={counted()} atMost={counts} clear={() => apply(undefined)} icon={ScrollText} />
      )}
      {matches !== undefined && matches > 0 && (
        <Grid
          label={t.title}
          total={matches}
          columns={columns}
          rowHeight={52}
          page={(index) => ask(r.audit.list, { query: { q, offset: index * pageSize, limit: pageSize, total: "none" } })}
          open={({ id }) => void navigate({ to: "/audit/$auditId", params: { auditId: id } })}
        />
      )}
    </Page>
  );
}
