import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, states, kinds as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { byNameQuery, FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { ListParts } from "../ui/listing.tsx";
import { Remove } from "../ui/remove.tsx";
import { Empty } from "../ui/states.tsx";
import { Tag } from "../ui/status.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Time } from "../ui/time.tsx";
import { KindForm } from "./kind-form.tsx";
import type { Kind, KindOf } from "./kinds.ts";

const route = getRouteApi("/in/settings/{-$part}");

interface KindTabsProps<K extends string> {
  readonly label: string;
  readonly kinds: Readonly<Record<K, KindOf>>;
  readonly names: Readonly<Record<K, string>>;
}

/** The kinds of types, or of tags, in tabs. */
export function KindTabs<K extends string>({ label, kinds, names }: KindTabsProps<K>) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const ids = Object.keys(kinds) as K[];
  return (
    <Tabs
      label={label}
      value={tab ?? ids[0] ?? ""}
      onChange={(id) => void navigate({ search: { tab: id === ids[0] ? undefined : id } })}
      tabs={ids.map((id) => ({ id, label: names[id], body: <KindList kind={kinds[id]} label={names[id]} /> }))}
    />
  );
}

function columnsOf(kind: KindOf, edit: (row: Kind) => void): readonly Column<Kind>[] {
  const removeOf = (row: Kind) => async () => {
    await kind.remove(row.id);
    await invalidate(kind.feature);
  };
  const key: Column<Kind> = {
    id: "key",
    head: t.columns.key,
    width: "minmax(100px, 0.7fr)",
    sort: "key",
    cell: (row) => <code>{row.key}</code>,
  };
  return [
    {
      id: "name",
      head: t.columns.name,
      width: "minmax(140px, 1fr)",
      sort: "name",
      cell: ({ name, colour, deleted }) => <Tag name={deleted ? `${name} (${t.deleted})` : name} colour={colour} />,
    },
    ...(kind.isType ? [key] : []),
    { id: "description", head: t.columns.text, width: "minmax(140px, 1.4fr)", cell: ({ description }) => description },
    { id: "changed", head: t.columns.changed, width: "110px", cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} /> },
    {
      id: "actions",
      head: common.actions,
      width: "150px",
      cell: (row) => (
        <>
          <Edit row={row} kind={kind} edit={edit} />
          <Remove name={row.name} text={kind.isType ? t.deleteType : t.deleteTag} row={kind.rows.delete} run={removeOf(row)} />
        </>
      ),
    },
  ];
}

function Edit({ row, kind, edit }: { row: Kind; kind: KindOf; edit: (row: Kind) => void }) {
  const lacking = useLacking(kind.rows.update);
  return (
    <Button small look="ghost" why={lacking && states.missing(lacking)} onClick={() => edit(row)}>
      {common.edit}
    </Button>
  );
}

function KindList({ kind, label }: { kind: KindOf; label: string }) {
  const [editing, setEditing] = useState<Kind | "new">();
  const lacking = useLacking(kind.rows.create);
  return (
    <ListParts>
      <FoundList
        find={t.find}
        add={{ label: kind.isType ? t.newType : t.newTag, onClick: () => setEditing("new"), why: lacking && states.missing(lacking) }}
        label={label}
        columns={columnsOf(kind, setEditing)}
        rows={(wanted) => kind.list(byNameQuery(wanted))}
        empty={<Empty title={t.emptyTitle} text={kind.isType ? t.emptyTypes : t.emptyTags} />}
      />
      {editing !== undefined && <KindForm kind={kind} of={editing === "new" ? undefined : editing} close={() => setEditing(undefined)} />}
    </ListParts>
  );
}
