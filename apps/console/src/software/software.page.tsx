import type { DistributionSetView, SoftwareModuleView } from "@harrier/contracts";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Box, Boxes, Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { type Asked, ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { commands, states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Choice, Field } from "../ui/field.tsx";
import { type Column, Grid, pageSize } from "../ui/grid.tsx";
import { ListBar } from "../ui/listing.tsx";
import { NothingMatches } from "../ui/nothing-matches.tsx";
import { Page } from "../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../ui/states.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { findQuery, readQuery, type Wanted } from "./find.state.ts";
import { NewModule, NewSet } from "./new-software.tsx";
import style from "./software.module.css";
import { SoftwareState } from "./state.tsx";

const route = getRouteApi("/in/software");

/** Distribution sets, and the modules that they are made of. */
export function SoftwarePage() {
  const { tab = "sets", q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const lacking = useLacking(r.distributionSets.create);
  const isSets = tab !== "modules";
  const add = () => setAdding(true);
  return (
    <Page
      title={t.title}
      api={{
        row: isSets ? r.distributionSets.list : r.softwareModules.list,
        query: { q, sort },
        command: commands.list(isSets ? "set" : "module", { q, sort }),
      }}
      actions={
        <Button look="primary" why={lacking && states.missing(lacking)} onClick={add}>
          <Plus size={14} aria-hidden />
          {isSets ? t.newSet : t.newModule}
        </Button>
      }
    >
      <Tabs
        label={t.tabList}
        value={isSets ? "sets" : "modules"}
        onChange={(id) => void navigate({ search: { tab: id === "sets" ? undefined : id } })}
        tabs={[
          { id: "sets", label: t.tabs.sets, body: <Sets add={add} /> },
          { id: "modules", label: t.tabs.modules, body: <Modules add={add} /> },
        ]}
      />
      {adding && isSets && <NewSet close={() => setAdding(false)} />}
      {adding && !isSets && <NewModule close={() => setAdding(false)} />}
    </Page>
  );
}

const setColumns: readonly Column<DistributionSetView>[] = [
  {
    id: "name",
    head: t.columns.name,
    width: "minmax(180px, 1.4fr)",
    sort: "name",
    cell: ({ id, name }) => (
      <Link to="/software/sets/$setId" params={{ setId: String(id) }} tabIndex={-1}>
        {name}
      </Link>
    ),
  },
  { id: "version", head: t.columns.version, width: "minmax(90px, 0.7fr)", sort: "version", cell: ({ version }) => version },
  { id: "type", head: t.columns.type, width: "minmax(120px, 0.8fr)", cell: ({ typeName, type }) => typeName ?? type },
  { id: "state", head: t.columns.state, width: "130px", cell: (row) => <SoftwareState {...row} /> },
  {
    id: "modules",
    head: t.columns.modules,
    width: "minmax(160px, 1fr)",
    cell: ({ modules }) => <span className="muted">{modules.map(({ name, version }) => `${name} ${version}`).join(", ")}</span>,
  },
  {
    id: "changed",
    head: t.columns.changed,
    width: "120px",
    sort: "lastmodifiedat",
    cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} />,
  },
];

const moduleColumns: readonly Column<SoftwareModuleView>[] = [
  {
    id: "name",
    head: t.columns.name,
    width: "minmax(180px, 1.4fr)",
    sort: "name",
    cell: ({ id, name }) => (
      <Link to="/software/modules/$moduleId" params={{ moduleId: String(id) }} tabIndex={-1}>
        {name}
      </Link>
    ),
  },
  { id: "version", head: t.columns.version, width: "minmax(90px, 0.7fr)", sort: "version", cell: ({ version }) => version },
  { id: "type", head: t.columns.type, width: "minmax(120px, 0.8fr)", cell: ({ typeName, type }) => typeName ?? type },
  // The list does not know whether a module has files, so it calls none ready.
  { id: "state", head: t.columns.state, width: "130px", cell: (row) => (row.locked || !row.complete) && <SoftwareState {...row} /> },
  { id: "vendor", head: t.columns.vendor, width: "minmax(110px, 0.8fr)", cell: ({ vendor }) => vendor },
  {
    id: "changed",
    head: t.columns.changed,
    width: "120px",
    sort: "lastmodifiedat",
    cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} />,
  },
];

function Sets({ add }: { add: () => void }) {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      total={ask(r.distributionSets.list, { query: { q, limit: 1 } })}
      all={ask(r.distributionSets.list, { query: { limit: 1 } })}
      empty={{ title: t.setsEmpty, text: t.setsEmptyText, icon: Boxes, button: t.newSet, add }}
      tags
    >
      {(total) => (
        <Grid
          label={t.tabs.sets}
          total={total}
          columns={setColumns}
          sort={sort}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
          page={(index) =>
            ask(r.distributionSets.list, { query: { q, sort: sort ?? "id:DESC", offset: index * pageSize, limit: pageSize } })
          }
          open={({ id }) => void navigate({ to: "/software/sets/$setId", params: { setId: String(id) } })}
        />
      )}
    </List>
  );
}

function Modules({ add }: { add: () => void }) {
  const { q, sort } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      total={ask(r.softwareModules.list, { query: { q, limit: 1 } })}
      all={ask(r.softwareModules.list, { query: { limit: 1 } })}
      empty={{ title: t.modulesEmpty, text: t.modulesEmptyText, icon: Box, button: t.newModule, add }}
    >
      {(total) => (
        <Grid
          label={t.tabs.modules}
          total={total}
          columns={moduleColumns}
          sort={sort}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
          page={(index) =>
            ask(r.softwareModules.list, { query: { q, sort: sort ?? "id:DESC", offset: index * pageSize, limit: pageSize } })
          }
          open={({ id }) => void navigate({ to: "/software/modules/$moduleId", params: { moduleId: String(id) } })}
        />
      )}
    </List>
  );
}

interface ListProps {
  readonly total: Asked<{ readonly total?: number | undefined }>;
  /** The same without the filter. */
  readonly all: Asked<{ readonly total?: number | undefined }>;
  readonly empty: {
    readonly title: string;
    readonly text: string;
    readonly icon: typeof Box;
    readonly button: string;
    readonly add: () => void;
  };
  /** They may have tags. */
  readonly tags?: boolean;
  readonly children: (total: number) => ReactNode;
}

function List({ total, all, empty, tags, children }: ListProps) {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const lacking = useLacking(r.distributionSets.create);
  const clear = () => void navigate({ search: (old) => ({ ...old, q: undefined }) });
  const { data, error, refetch } = useQuery({ ...total, placeholderData: keepPreviousData });
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure error={error} retry={() => void refetch()} />;
  const matches = data.total ?? 0;
  if (matches === 0 && q === undefined) {
    return (
      <Empty title={empty.title} text={empty.text} icon={empty.icon}>
        <Button look="primary" why={lacking && states.missing(lacking)} onClick={empty.add}>
          {empty.button}
        </Button>
      </Empty>
    );
  }
  return (
    <div className={style["fill"]}>
      <Find tags={tags} />
      {matches === 0 ? <NothingMatches all={all} clear={clear} icon={empty.icon} /> : children(matches)}
    </div>
  );
}

/** A search by name, and of sets by tag; the address holds it as a query. */
function Find({ tags = false }: { tags?: boolean }) {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = readQuery(q);
  const [text, setText] = useState("");
  useEffect(() => setText(readQuery(q).text), [q]);
  const find = (part: Partial<Wanted>) => void navigate({ search: (old) => ({ ...old, q: findQuery({ ...wanted, text, ...part }) }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    find({});
  };
  return (
    <search>
      <ListBar>
        <form onSubmit={submit}>
          <Field label={t.find} hideLabel placeholder={t.find} value={text} onChange={setText} data-filter="" type="search" />
        </form>
        {tags && <TagChoice value={wanted.tag} onChange={(tag) => find({ tag })} />}
      </ListBar>
    </search>
  );
}

/** A choice of the tag that sets have; without tags there is none. */
function TagChoice({ value, onChange }: { value: string; onChange: (tag: string) => void }) {
  const { data } = useQuery(ask(r.distributionSetTags.list, { query: { limit: 500, sort: "name:ASC" } }));
  const names = (data?.content ?? []).map(({ name }) => name);
  if (names.length === 0 && value === "") return null;
  // A tag that is gone meanwhile is still what the address asks for.
  const offered = value === "" || names.includes(value) ? names : [value, ...names];
  const options = offered.map((name) => ({ value: name, label: name }));
  return <Choice label={t.tag} hideLabel value={value} onChange={onChange} options={[{ value: "", label: t.anyTag }, ...options]} />;
}
