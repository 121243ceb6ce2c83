import type { RoleView } from "@harrier/contracts";
import { useState } from "react";
import { ask, askSeen, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { common, people as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { byNameQuery, FoundList } from "../ui/found-list.tsx";
import type { Column } from "../ui/grid.tsx";
import { limits } from "../ui/limits.ts";
import { Remove } from "../ui/remove.tsx";
import { Empty } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { MatrixDialog } from "./matrix.tsx";

type Named = Pick<RoleView, "id" | "name">;

/** The roles of the tenant. */
export function Roles() {
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState<Named>();
  return (
    <>
      <FoundList
        find={t.findRole}
        add={{ label: t.newRole, onClick: () => setAdding(true) }}
        label={t.columns.role}
        columns={columnsOf(setOpen)}
        rows={(wanted) => ask(r.roles.list, { query: { ...byNameQuery(wanted), representation: "full" } })}
        empty={<Empty title={t.rolesEmpty} text={t.rolesText} command="harrier role create" />}
      />
      {adding && <NewRole close={() => setAdding(false)} made={setOpen} />}
      {open !== undefined && <PermissionsOf {...open} close={() => setOpen(undefined)} />}
    </>
  );
}

function columnsOf(open: (role: Named) => void): readonly Column<RoleView>[] {
  const removeOf = (roleId: number) => async () => {
    await change(r.roles.delete, { params: { roleId } });
    await invalidate("roles");
  };
  return [
    { id: "name", head: t.columns.role, width: "minmax(150px, 1.4fr)", sort: "name", cell: ({ name }) => <b className="cut">{name}</b> },
    { id: "permissions", head: t.columns.permissions, width: "130px", cell: ({ permissions }) => t.total(permissions?.length ?? 0) },
    { id: "changed", head: t.columns.changed, width: "110px", cell: ({ lastModifiedAt }) => <Time at={lastModifiedAt} /> },
    {
      id: "actions",
      head: common.actions,
      width: "210px",
      cell: (role) => (
        <>
          <Button small look="ghost" onClick={() => open(role)}>
            {t.permissions}
          </Button>
          <Remove name={role.name} text={t.deleteRole} row={r.roles.delete} run={removeOf(role.id)} />
        </>
      ),
    },
  ];
}

function NewRole({ close, made }: { close: () => void; made: (role: Named) => void }) {
  const [name, setName] = useState("");
  const run = async () => {
    const [role] = await change(r.roles.create, { body: [{ name: name.trim() }] });
    await invalidate("roles");
    if (role) made(role);
  };
  const why = name.trim() === "" ? common.nameFirst : undefined;
  return (
    <FormDialog open close={close} title={t.newRole} text={t.rolesText} button={common.create} why={why} run={run}>
      <Field label={common.name} value={name} onChange={setName} maxLength={limits.name} autoFocus />
    </FormDialog>
  );
}

function PermissionsOf({ id, name, close }: Named & { close: () => void }) {
  const save: Parameters<typeof MatrixDialog>[0]["save"] = async (body, ifMatch) => {
    await change(r.roles.setPermissions, { params: { roleId: id }, body, ifMatch });
    await invalidate("roles", "userinfo");
  };
  const asked = askSeen(r.roles.listPermissions, { params: { roleId: id }, query: { representation: "full" } });
  return <MatrixDialog name={name} asked={asked} save={save} close={close} />;
}
